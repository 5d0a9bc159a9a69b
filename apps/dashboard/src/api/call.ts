import { Problem } from '@leasehold/wire';
import { parse, stringify } from 'lossless-json';
import type { z } from 'zod';

/** A refusal, in the words of whoever refused. Callers match on `code`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  readonly problem: Problem | null;

  constructor(code: string, message: string, status: number, problem: Problem | null, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.problem = problem;
  }
}

/** A number that JavaScript would round stays as its digits. */
export function losslessNumber(text: string): number | bigint | string {
  if (/^-?\d+$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

export function parseLossless(text: string): unknown {
  return parse(text, undefined, losslessNumber);
}

/** JSON of a value that may hold bigints: they become numbers with all their digits. */
export function stringifyLossless(value: unknown, space?: number): string {
  return stringify(value, undefined, space) ?? 'null';
}

interface Call<T extends z.ZodType> {
  readonly schema: T;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** The operation's id: the same key twice does it once. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export async function call<T extends z.ZodType>({
  schema,
  method = 'GET',
  path,
  body,
  key,
  signal,
}: Call<T>): Promise<z.output<T>> {
  const answer = await send(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    credentials: 'same-origin',
    cache: 'no-store',
    ...(method === 'POST' ? { body: stringifyLossless(body ?? {}) } : {}),
    signal: AbortSignal.any([AbortSignal.timeout(20_000), ...(signal === undefined ? [] : [signal])]),
  });
  const text = await answer.text();
  const value = readJson(text);
  if (!answer.ok) throw refusal(answer.status, value);
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new ApiError(
    'unreadable',
    `The server's answer has an unknown form (${path}): ${read.error.issues[0]?.path.join('.') ?? ''}`,
    answer.status,
    null,
  );
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError('unreachable', '', 0, null, { cause });
  }
}

function readJson(text: string): unknown {
  try {
    return parseLossless(text);
  } catch {
    return null;
  }
}

function refusal(status: number, value: unknown): ApiError {
  const read = Problem.safeParse(value);
  if (read.success) return new ApiError(read.data.code, read.data.detail, status, read.data);
  return new ApiError('internal', `HTTP ${status}`, status, null);
}
