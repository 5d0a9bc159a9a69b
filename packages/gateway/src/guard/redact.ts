/**
 * THE place where what workers and submitters wrote is made fit to be shown: everything that leaves the gateway (rows,
 * details, histories, logs, graphs, errors) passes through here. Hidden are: arguments whose position is marked secret,
 * values under a name that speaks of a secret, and texts that look like credentials.
 */
import type { Json, TypedValue } from '@leasehold/core/model';
import type { ShownValue } from '@leasehold/wire';

export const HIDDEN = '[hidden]';

const SECRET_NAME =
  /pass(?:word|wd|phrase)?$|passwd|password|secret|token$|^token|authorization|api[-_]?key|private[-_]?key|access[-_]?key|credential|cookie|^auth$|session[-_]?id/i;

/** Parts of texts that are credentials by their looks. Each is linear: no nested repetition. */
const SECRET_TEXTS: readonly RegExp[] = [
  /\bBearer\s+[A-Za-z0-9._~+/-]{8,}=*/g,
  /\bBasic\s+[A-Za-z0-9+/]{8,}={0,2}/g,
  /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|sk|rk)[-_][A-Za-z0-9_-]{16,}/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
];
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,200}@/gi;
const ASSIGNED =
  /\b((?:password|passwd|secret|api[-_]?key|access[-_]?token)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;&]{1,500}/gi;

export function isSecretName(name: string): boolean {
  return name.length <= 200 && SECRET_NAME.test(name);
}

export function redactText(text: string): string {
  let shown = text.replace(URL_PASSWORD, `$1${HIDDEN}@`).replace(ASSIGNED, `$1${HIDDEN}`);
  for (const pattern of SECRET_TEXTS) shown = shown.replace(pattern, HIDDEN);
  return shown;
}

export function redactJson(value: Json): Json {
  if (typeof value === 'string') return redactText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => redactJson(item));
  // From entries, so that a key `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSecretName(key) ? HIDDEN : redactJson(item)]),
  );
}

function isHidden(typed: TypedValue, index: number, secrets: readonly number[]): boolean {
  return secrets.includes(index) || (typed.name !== undefined && isSecretName(typed.name));
}

/** Bytes of one value that are sent whole in a detail. */
const SHOWN_BYTES = 65_536;
const CUT_CHARS = 2_000;

export function showValues(values: readonly TypedValue[], secrets: readonly number[] = []): ShownValue[] {
  return values.map((typed, index) => {
    const { type, name } = typed;
    const named = name === undefined ? {} : { name };
    if (isHidden(typed, index, secrets)) return { type, ...named, value: null, hidden: true };
    const value = redactJson(typed.value);
    const text = JSON.stringify(value);
    return text.length <= SHOWN_BYTES
      ? { type, ...named, value }
      : { type, ...named, value: text.slice(0, CUT_CHARS), cut: text.length };
  });
}

const PREVIEW_CHARS = 120;

/** One line of arguments for a list: `"SKU-99283", 50`. */
export function previewValues(values: readonly TypedValue[] | undefined, secrets: readonly number[] = []): string {
  if (values === undefined) return '…';
  let out = '';
  for (const [index, typed] of values.entries()) {
    if (index > 0) out += ', ';
    out += isHidden(typed, index, secrets) ? '•••' : previewOne(typed);
    if (out.length > PREVIEW_CHARS) return `${cutText(out, PREVIEW_CHARS)}…`;
  }
  return out;
}

function previewOne({ type, value }: TypedValue): string {
  if (type === 'bytes') return `bytes(${typeof value === 'string' ? Math.floor((value.length * 3) / 4) : 0})`;
  if (typeof value === 'string') {
    const wide = type === 'int' || type === 'int64' || type === 'uint' || type === 'uint64';
    return wide ? value : JSON.stringify(cutText(redactText(value.slice(0, 2 * PREVIEW_CHARS)), 60));
  }
  return cutText(JSON.stringify(redactJson(value)), 60);
}

/** Never inside a surrogate pair. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const last = text.charCodeAt(chars - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? chars - 1 : chars);
}

/** What of an error is shown in a list: its first line, short. */
export function previewError(message: string): string {
  const [line = ''] = message.slice(0, 1_000).split('\n', 1);
  return cutText(redactText(line), 200);
}
