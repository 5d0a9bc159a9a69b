import { checkStored } from './args.js';
import { invalid } from './check.js';
import { display } from './plain.js';
import { LIMITS, type TypedValue } from './signature.js';

/** Reading single fields of Machinery's JSON by their Go types. */

export interface MachineryNote {
  /** Where: `Group.Tasks[1].StopTaskDeletionOnError`. */
  readonly path: string;
  readonly problem: string;
}
export type Fields = Readonly<Record<string, unknown>>;

const GO_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
const GO_ZERO_TIME = '0001-01-01T00:00:00Z';

/** Collects the notes, and reads fields by their Go type. */
export class Reader {
  readonly notes: MachineryNote[] = [];

  note(path: string, problem: string): void {
    this.notes.push({ path, problem });
  }

  object(value: unknown, path: string): Fields {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
    throw invalid(path.replace(/\.$/, '') || 'Machinery JSON', `${display(value)} is not an object`);
  }

  list(fields: Fields, key: string, path: string): readonly unknown[] {
    const value = fields[key] ?? [];
    if (Array.isArray(value)) return value as readonly unknown[];
    throw invalid(`${path}${key}`, `${display(value)} is not a list`);
  }

  text(fields: Fields, key: string, path: string): string {
    const value = fields[key] ?? '';
    if (typeof value === 'string') return value;
    throw invalid(`${path}${key}`, `${display(value)} is not string`);
  }

  flag(fields: Fields, key: string, path: string): boolean {
    const value = fields[key] ?? false;
    if (typeof value === 'boolean') return value;
    throw invalid(`${path}${key}`, `${display(value)} is not bool`);
  }

  count(fields: Fields, key: string, path: string): number {
    const value = fields[key] ?? 0;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw invalid(`${path}${key}`, `${display(value)} is not a whole number from 0`);
  }

  unknownKeys(fields: Fields, known: ReadonlySet<string>, path: string): void {
    for (const key of Object.keys(fields)) {
      if (!known.has(key)) this.note(`${path}${key.slice(0, 80)}`, 'unknown field, left out');
    }
  }
}

export function readEta(reader: Reader, fields: Fields, path: string): number | undefined {
  const text = reader.text(fields, 'ETA', path);
  if (text === '' || text === GO_ZERO_TIME) return undefined;
  const match = GO_TIME.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (Number.isNaN(ms)) throw invalid(`${path}ETA`, `${display(text)} is not a time like 2006-01-02T15:04:05Z`);
  // Never before the time given: a fraction of a millisecond counts as a whole one.
  return ms + Math.ceil(Number((match?.[2] ?? '0').padEnd(9, '0')) / 1_000_000);
}

export function readArg(reader: Reader, given: unknown, path: string): TypedValue {
  const fields = reader.object(given, path);
  reader.unknownKeys(fields, new Set(['Name', 'Type', 'Value']), `${path}.`);
  const type = fields['Type'] === '[]byte' ? 'bytes' : fields['Type'];
  const value = fields['Value'];
  // A float may be written without a point: 100 is 100.0.
  const float = typeof type === 'string' && type.includes('float');
  const asNumber = (item: unknown) => (typeof item === 'bigint' ? Number(item) : item);
  const read = !float ? value : Array.isArray(value) ? value.map(asNumber) : asNumber(value);
  return checkStored({ type, value: read, name: reader.text(fields, 'Name', `${path}.`) }, path);
}

export function readHeaders(reader: Reader, fields: Fields, path: string): Readonly<Record<string, string>> {
  const headers = Object.entries(reader.object(fields['Headers'] ?? {}, `${path}Headers`));
  return Object.fromEntries(
    headers.map(([name, value]) => {
      if (typeof value === 'string') return [name, value];
      reader.note(`${path}Headers.${name.slice(0, 80)}`, 'not a string, kept as its JSON text');
      return [name, typeof value === 'bigint' ? value.toString() : JSON.stringify(value)];
    }),
  ) as Record<string, string>;
}

export function readPriority(reader: Reader, fields: Fields, path: string): number {
  const priority = reader.count(fields, 'Priority', path);
  if (priority <= LIMITS.priorityMax) return priority;
  reader.note(`${path}Priority`, `${priority} is above the highest, ${LIMITS.priorityMax}, which is taken`);
  return LIMITS.priorityMax;
}
