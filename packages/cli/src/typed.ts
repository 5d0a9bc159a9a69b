/** From the words of a command line, or the values of a JSON file, to typed arguments. */
import {
  checkStored,
  encodeValue,
  inferType,
  isArgType,
  LeaseholdError,
  withAdvertised,
  type ArgType,
  type HandlerInfo,
  type Json,
  type NodeRecord,
  type Signature,
  type TypedValue,
} from '@leasehold/core';

export function findHandler(nodes: readonly NodeRecord[], name: string): HandlerInfo | undefined {
  return nodes.flatMap(({ handlers }) => handlers).find((handler) => handler.name === name);
}

/** What a live worker declares for a position; undefined when nobody serves the name, or takes no such argument. */
function declared(handler: HandlerInfo | undefined, index: number): { type: ArgType; name?: string } | undefined {
  const info = handler?.args[index];
  if (info !== undefined) return { type: info.type, name: info.name };
  return handler?.variadic === undefined ? undefined : { type: handler.variadic };
}

/** `int64:5` says its type itself; else the live worker does. */
export function parseWords(name: string, words: readonly string[], handler: HandlerInfo | undefined): TypedValue[] {
  if (handler !== undefined) requireCount(handler, words.length);
  return words.map((word, index) => {
    const place = `args[${index}]`;
    const known = declared(handler, index);
    const typed = /^([\w[\]]+):(.*)$/su.exec(word);
    if (typed !== null && isArgType(typed[1]) && known?.type !== 'string') {
      return checkStored({ type: typed[1], value: readWord(typed[1], typed[2] ?? '', place) }, place);
    }
    if (known === undefined) {
      throw new LeaseholdError(
        'invalid',
        `no live worker knows the task ${name}, so its types are unknown; write each argument as type:value (int64:5, string:hello)`,
        { field: place, name },
      );
    }
    return checkStored({ ...known, value: readWord(known.type, word, place) }, place);
  });
}

function requireCount(handler: HandlerInfo, given: number): void {
  const least = handler.args.filter(({ optional }) => optional !== true).length;
  const most = handler.variadic === undefined ? handler.args.length : Infinity;
  if (given >= least && given <= most) return;
  const list = handler.args.map(({ name, type, optional }) => `${name}${optional === true ? '?' : ''}: ${type}`);
  if (handler.variadic !== undefined) list.push(`...${handler.variadic}`);
  throw new LeaseholdError('invalid', `${handler.name} takes (${list.join(', ')}); ${given} given`, { field: 'args' });
}

function readWord(type: ArgType, word: string, field: string): Json {
  if (type === 'string' || type === 'bytes') return word;
  if (type === 'bool') return word === 'true' ? true : word === 'false' ? false : word;
  // Wide integers keep their digits as text; checkStored refuses what is none.
  if (/^u?int(64)?$/.test(type)) return word;
  if (type === 'json' || type.startsWith('[]')) return parseJson(word, field);
  return word.trim() === '' || Number.isNaN(Number(word)) ? word : Number(word);
}

export function parseJson(text: string, field: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new LeaseholdError('invalid', `${field}: not JSON: ${(cause as Error).message}`, { field }, { cause });
  }
}

/** A signature from a JSON file: arguments are `{ "type", "value" }` or plain values, typed by the live worker. */
export function readSignature(given: unknown, nodes: readonly NodeRecord[], field: string): Signature {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || !('name' in given)) {
    throw new LeaseholdError('invalid', `${field}: a task is an object with a name`, { field });
  }
  const { args = [], ...rest } = given as { name: unknown; args?: unknown };
  if (typeof rest.name !== 'string') throw new LeaseholdError('invalid', `${field}.name: a text`, { field });
  if (!Array.isArray(args)) throw new LeaseholdError('invalid', `${field}.args: a list`, { field });
  const handler = findHandler(nodes, rest.name);
  const typed = args.map((value: unknown, index) =>
    readValue(value, declared(handler, index), `${field}.args[${index}]`),
  );
  return withAdvertised({ ...rest, args: typed } as Signature, handler);
}

/** Positions whose values the live worker declares secret. */
export function secretsOf(handler: HandlerInfo | undefined, count: number): { readonly secrets?: readonly number[] } {
  const secrets = (handler?.args ?? []).flatMap(({ secret }, index) =>
    secret === true && index < count ? [index] : [],
  );
  return secrets.length === 0 ? {} : { secrets };
}

function readValue(value: unknown, known: ReturnType<typeof declared>, place: string): TypedValue {
  const object = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (object && 'type' in value && 'value' in value) return checkStored(value, place);
  if (known !== undefined) return checkStored({ ...known, value }, place);
  return encodeValue(inferType(value, place), value, place);
}
