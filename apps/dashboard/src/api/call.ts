import type { Problem } from '@leasehold/wire';
import type { z } from 'zod';
import { csrfHeader, toLogin } from '../access/sign-in';

type Answers = typeof import('./answers');
/** What an answer may be, by the name of its schema. */
type AnswerName = { [K in keyof Answers]: Answers[K] extends z.ZodType ? K : never }[keyof Answers];
type Answer<K extends AnswerName> = z.output<Answers[K]>;

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

interface Call<K extends AnswerName> {
  readonly answer: K;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** The operation's id: the same key twice does it once. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export async function call<K extends AnswerName>({
  answer: name,
  method = 'GET',
  path,
  body,
  key,
  signal,
}: Call<K>): Promise<Answer<K>> {
  const answers = await import('./answers');
  const answer = await send(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(method === 'POST' ? { 'content-type': 'application/json', ...csrfHeader() } : {}),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    credentials: 'same-origin',
    cache: 'no-store',
    ...(method === 'POST' ? { body: answers.stringifyLossless(body ?? {}) } : {}),
    signal: AbortSignal.any([AbortSignal.timeout(20_000), ...(signal === undefined ? [] : [signal])]),
  });
  const text = await answer.text();
  const value = readJson(text, answers);
  if (answer.status === 401) toLogin();
  if (!answer.ok) throw refusal(answer.status, value, answers);
  const read = answers[name].safeParse(value);
  if (read.success) return read.data as Answer<K>;
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

function readJson(text: string, { parseLossless }: Answers): unknown {
  try {
    return parseLossless(text);
  } catch {
    return null;
  }
}

function refusal(status: number, value: unknown, answers: Answers): ApiError {
  const read = answers.Problem.safeParse(value);
  if (read.success) return new ApiError(read.data.code, read.data.detail, status, read.data);
  return new ApiError('internal', `HTTP ${status}`, status, null);
}
