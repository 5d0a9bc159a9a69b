/** One change of one key, as it may be shown. What is not known to be harmless is shown without its value. */
import { decodeTask, isLeaseholdError, type Json, type Keys, type ParsedKey } from '@leasehold/core/model';
import type { KvEvent } from '@leasehold/core/kv';
import type { StreamEvent } from '@leasehold/wire';
import { cutText, redactJson, redactText, showValues } from '../guard/redact.js';
import type { DeclaredSecrets } from '../projection/secrets.js';

/**
 * Kinds whose values hold no payload, besides `tasks`, whose payload is redacted value by value. A ready entry carries the
 * whole task, so it is not among them.
 */
const SHOWN: ReadonlySet<string> = new Set([
  'locks',
  'nodes',
  'queues',
  'names',
  'all',
  'slots',
  'rates',
  'joins',
  'barriers',
  'chores',
  'fires',
  'ended',
  'progress',
  'stats',
  'leader',
  'audit',
  'clock',
  'pins',
  'epoch',
]);
const SHOWN_CHARS = 4_000;

export function streamEvent(keys: Keys, secrets: DeclaredSecrets, { type, kv }: KvEvent): StreamEvent {
  const parsed = keys.parse(kv.key);
  const key = kv.key.slice(keys.prefix.length);
  const kind = parsed?.kind ?? key.split('/', 1)[0] ?? '';
  const task = taskOf(parsed);
  return {
    type,
    kind,
    key,
    created: type === 'put' && kv.createRevision === kv.modRevision,
    bytes: Buffer.byteLength(kv.value),
    ...(kv.lease === 0n ? {} : { lease: kv.lease.toString() }),
    ...(task === undefined ? {} : { task }),
    ...(type === 'put' ? shownValue(kind, kv.value, secrets) : {}),
  };
}

function taskOf(parsed: ParsedKey | undefined): string | undefined {
  switch (parsed?.kind) {
    case 'tasks':
    case 'args':
    case 'results':
    case 'locks':
    case 'ready':
    case 'due':
    case 'deadlines':
    case 'ended':
    case 'progress':
    case 'logs':
      return parsed.id;
    default:
      return undefined;
  }
}

function shownValue(kind: string, text: string, secrets: DeclaredSecrets): Pick<StreamEvent, 'value' | 'cut'> {
  if (kind === 'tasks') return shortened(redactTask(text, secrets));
  return SHOWN.has(kind) ? shortened(redactAny(text)) : {};
}

/** The record as stored, but for arguments and results: those go through the same rules as on the task's page. */
function redactTask(text: string, secrets: DeclaredSecrets): Json | undefined {
  try {
    const task = decodeTask(text);
    const { args, results, ...rest } = JSON.parse(text) as Record<string, Json>;
    return {
      ...(redactJson(rest) as Record<string, Json>),
      ...(args === undefined || task.args === undefined
        ? {}
        : { args: showValues(task.args, secrets.of(task)) as unknown as Json }),
      ...(results === undefined || task.results === undefined
        ? {}
        : { results: showValues(task.results) as unknown as Json }),
    };
  } catch (error) {
    if (isLeaseholdError(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function redactAny(text: string): Json {
  try {
    return redactJson(JSON.parse(text) as Json);
  } catch {
    return cutText(redactText(text.slice(0, SHOWN_CHARS * 2)), SHOWN_CHARS);
  }
}

function shortened(value: Json | undefined): Pick<StreamEvent, 'value' | 'cut'> {
  if (value === undefined) return {};
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? { value } : { value: cutText(text, SHOWN_CHARS), cut: true };
}
