/** The API against its own document: requests made from its schemas and then broken, and answers read by them. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Problem } from '@leasehold/wire';
import { ROUTES } from '../src/index.js';
import { openWorld, text, type World } from './world.js';

let world: World;
let operations: readonly Operation[] = [];
beforeAll(async () => {
  world = await openWorld();
  operations = operationsOf((await world.call('GET', '/openapi.json')).body as unknown as Document);
});
afterAll(() => world.close());

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
}
interface Document {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
        };
      }
    >
  >;
}
interface Operation {
  readonly path: string;
  readonly schema: Schema;
}

function operationsOf({ paths }: Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, { post }]) => {
    const schema = post?.requestBody?.content['application/json']?.schema;
    if (post === undefined) return [];
    return [{ path: path.replace('/api/v1', ''), schema: schema ?? {} }];
  });
}

/** A value as the schema has it. */
function good(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(good));
  switch (schema.type) {
    case 'string':
      return fc.constantFrom('1', '48213', 'absent', '@daily');
    case 'integer':
    case 'number':
      return fc.integer({ min: 0, max: 500 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(good(schema.items ?? {}), { maxLength: 3 });
    case 'object':
      return whole(schema);
    default:
      return fc.constantFrom<unknown>(null, 'x', 7, {}, [], { kind: 'task' }, { kind: 'chain', steps: [{}] });
  }
}

function whole({ properties = {}, required = [] }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const parts = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, good(part)]));
  return fc.record(parts, { requiredKeys: [...required] });
}

const WRONG = fc.constantFrom<unknown>(
  null,
  -1,
  1.5,
  1e308,
  '',
  '-1',
  '9'.repeat(40),
  'x'.repeat(5_000),
  [],
  [[]],
  {},
  { $ref: '#' },
  true,
  false,
  '\u202e',
  '\ud800',
  '../../etc',
  '%00',
  ['a', 1, null],
  { toString: 1 },
  Number.MAX_SAFE_INTEGER,
);

/** Such a value with one thing wrong: another value, a part that is missing, or one that is not known. */
function broken({ path, schema }: Operation): fc.Arbitrary<{ readonly path: string; readonly body: unknown }> {
  const names = [...Object.keys(schema.properties ?? {}), '__proto__', 'constructor', 'unheardOf'];
  const one = fc.tuple(whole(schema), fc.constantFrom(...names), WRONG, fc.constantFrom('set', 'drop', 'all'));
  return one.map(([body, name, value, how]) => {
    if (how === 'all') return { path, body: value };
    const rest = Object.entries(body).filter(([key]) => key !== name);
    const entries = how === 'drop' ? rest : [...rest, [name, value] as const];
    return { path, body: Object.fromEntries(entries) };
  });
}

const place = (path: string): string => path.replaceAll(/\{\w+\}/g, () => 'absent');
/** What the bulk runner writes by itself, behind: a bulk that an earlier request started may still be at work. */
const OF_THE_RUNNER: ReadonlySet<string | undefined> = new Set(['bulk', 'targets', 'bulking', 'runner', 'audit']);

/** Everything else that there is, with its revision; undefined while a bulk is at work on it. */
async function stateNow(): Promise<string | undefined> {
  const { kv, store } = world;
  const { prefix } = store.keys;
  const { kvs } = await kv.range({ key: prefix, rangeEnd: `${prefix.slice(0, -1)}0` });
  const bulks = kvs.filter(({ key }) => store.keys.parse(key)?.kind === 'bulk');
  if (bulks.some(({ value }) => !value.includes('"ended_ms"'))) return undefined;
  const rest = kvs.filter(({ key }) => !OF_THE_RUNNER.has(store.keys.parse(key)?.kind));
  return rest.map(({ key, modRevision }) => `${key}@${modRevision}`).join('\n');
}

describe('two thousand broken requests made from the document', () => {
  test('are answered by a result or a problem, never by a 5xx; a refusal has changed nothing', async () => {
    expect(operations.length).toBeGreaterThan(20);
    const each = Math.ceil(2_000 / operations.length);
    let sent = 0;
    let refused = 0;
    let compared = 0;
    for (const operation of operations) {
      for (const { path, body } of fc.sample(broken(operation), { numRuns: each, seed: 11 })) {
        const before = await stateNow();
        const { status, body: answer } = await world.call('POST', place(path), JSON.stringify(body) ?? 'null');
        sent++;
        const said = [path, JSON.stringify(body).slice(0, 200), status] as const;
        if (status < 300) continue;
        expect(said[2], said.join(' ')).toBeLessThan(500);
        expect(Problem.safeParse(answer).success, said.join(' ')).toBe(true);
        refused++;
        if (before !== undefined) expect(await stateNow(), said.join(' ')).toBe(before);
        compared += before === undefined ? 0 : 1;
      }
    }
    expect(sent).toBeGreaterThanOrEqual(2_000);
    expect(refused).toBeGreaterThan(1_500);
    expect(compared).toBeGreaterThan(1_000);
    expect((await world.call('GET', '/tasks')).status).toBe(200);
  }, 180_000);
});

describe('what the document promises', () => {
  test.each(ROUTES.filter(({ method }) => method === 'GET').map((route) => [route.url, route] as const))(
    'GET %s is answered as its schema says, or by a problem',
    async (url, { response }) => {
      await world.submit('mail', [text('kim')]);
      await world.caughtUp();
      const { status, body } = await world.call('GET', url.replace(/:\w+/, 'absent'));
      if (status === 200) expect(response.safeParse(body)).toMatchObject({ success: true });
      else expect(Problem.parse(body).status).toBe(status);
    },
  );
});
