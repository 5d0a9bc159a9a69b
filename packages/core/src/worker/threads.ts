/**
 * Threads for handlers that compute: the worker's own event loop stays free for keepalives, watches and other handlers.
 *
 * H1  The pool is made with the first such task, and its threads end when they are idle.
 * H2  A task that is told to stop (timeout, cancel, loss of the lease, shutdown) has its thread terminated: a busy loop
 *     cannot be asked. What it had not finished is undone by nobody, as with a killed process.
 * H3  What the handler throws comes back as what it was: its name, message, stack and cause, and the meaning of `retryIn`,
 *     `snooze` and `fail`. A thread that dies is a failure like any other.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { LeaseholdError } from '../model/errors.js';
import type { TaskContext } from './context.js';
import { FinalError, RetryIn, Snooze } from './verdicts.js';

/** Where the handler of an isolated task is. */
export interface IsolatedHandler {
  /** A module that Node can import: an absolute path, or a `file:` URL. */
  readonly file: string | URL;
  /** Which of its exports. Default `default`. */
  readonly export?: string;
  readonly isolate: 'thread';
}

/** What an isolated handler is given beside its arguments. There is no signal: when it has to stop, its thread ends. */
export type IsolatedContext = Omit<TaskContext, 'signal'>;

type Facts = Pick<
  TaskContext,
  'id' | 'name' | 'queue' | 'attempt' | 'failures' | 'token' | 'tokenNumber' | 'headers' | 'deadlineMs'
>;

export interface Job {
  readonly file: string;
  readonly exported: string;
  readonly args: unknown;
  readonly facts: Facts;
  readonly port: MessagePort;
}

export type Note =
  | { readonly kind: 'progress'; readonly fraction: number; readonly message: string | undefined }
  | { readonly kind: 'log'; readonly text: string };

interface Told {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly delayMs?: number;
  readonly cause?: Told;
}
export type Answer = { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & Told);

const IDLE_MS = 30_000;

export class Threads {
  readonly #most: number;
  #pool: Promise<Piscina<Job, Answer>> | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  async run(handler: IsolatedHandler, args: unknown, context: TaskContext): Promise<unknown> {
    this.#pool ??= makePool(this.#most);
    const pool = await this.#pool;
    const { port1, port2 } = new MessageChannel();
    const note = (message: Note): void => {
      if (message.kind === 'log') context.log(message.text);
      else context.progress(message.fraction, message.message);
    };
    port1.on('message', note);
    port1.unref();
    try {
      const job: Job = {
        file: urlOf(handler.file),
        exported: handler.export ?? 'default',
        args,
        facts: factsOf(context),
        port: port2,
      };
      const answer = await pool.run(job, { signal: context.signal, transferList: [port2] });
      // Notes come by another way than the answer, and count when they were written before it.
      for (let left = receiveMessageOnPort(port1); left !== undefined; left = receiveMessageOnPort(port1)) {
        note(left.message as Note);
      }
      if (answer.ok) return answer.value;
      throw thrownOf(answer);
    } finally {
      port1.close();
    }
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await (await pool)?.destroy();
  }
}

/** Loaded when it is needed: most workers have no such task. */
async function makePool(most: number): Promise<Piscina<Job, Answer>> {
  const { Piscina } = await import('piscina');
  return new Piscina<Job, Answer>({ filename: threadFile(), minThreads: 0, maxThreads: most, idleTimeout: IDLE_MS });
}

function factsOf(context: TaskContext): Facts {
  const { id, name, queue, attempt, failures, token, tokenNumber, headers, deadlineMs } = context;
  return { id, name, queue, attempt, failures, token, tokenNumber, headers, deadlineMs };
}

function thrownOf(told: Told): Error {
  const cause = told.cause === undefined ? undefined : thrownOf(told.cause);
  const { message, delayMs = 0 } = told;
  if (told.name === 'Snooze') return new Snooze(delayMs);
  if (told.name === 'RetryIn') return new RetryIn(delayMs, { message, cause });
  if (told.name === 'FinalError') return new FinalError(message, { cause });
  const error = new Error(message, { cause });
  error.name = told.name;
  if (told.stack !== undefined) error.stack = told.stack;
  return error;
}

function urlOf(file: string | URL): string {
  if (file instanceof URL) return file.href;
  return file.startsWith('file:') ? file : pathToFileURL(file).href;
}

/** @throws LeaseholdError `invalid` when there is no such file. */
export function checkIsolated(name: string, { file }: IsolatedHandler): void {
  const path = fileURLToPath(urlOf(file));
  if (existsSync(path)) return;
  throw new LeaseholdError('invalid', `handlers: the file of ${name}, ${path}, does not exist`, {
    field: 'handlers',
    name,
    file: path,
  });
}

/** Threads run JavaScript: from the sources, the built file next to them. */
function threadFile(): string {
  const source = import.meta.url.endsWith('.ts');
  const base = source ? import.meta.url.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : import.meta.url;
  const file = fileURLToPath(new URL('./isolated-thread.js', base));
  if (existsSync(file)) return file;
  throw new LeaseholdError('unavailable', `${file} is missing; build @leasehold/core first`, { file });
}
