/**
 * Runs in a thread of the pool: imports the file that a task names, and runs its handler. Nothing is thrown across threads:
 * a class does not survive the copy, so what was thrown is told as data.
 */
import type { Answer, Job, Note } from './threads.js';

export default async function runJob({ file, exported, args, facts, port }: Job): Promise<Answer> {
  const tell = (note: Note): void => port.postMessage(note);
  const context = {
    ...facts,
    progress: (fraction: number, message?: string) => tell({ kind: 'progress', fraction, message }),
    log: (text: string) => tell({ kind: 'log', text }),
    retryIn: (ms: number, cause?: unknown): never => {
      throw Object.assign(new Error(messageOf(cause) ?? `asked to be tried again in ${ms} ms`, { cause }), {
        name: 'RetryIn',
        delayMs: ms,
      });
    },
    snooze: (ms: number): never => {
      throw Object.assign(new Error(`asked to be run again in ${ms} ms`), { name: 'Snooze', delayMs: ms });
    },
    fail: (message: string, cause?: unknown): never => {
      throw Object.assign(new Error(message, { cause }), { name: 'FinalError' });
    },
  };
  try {
    const module = (await import(file)) as Readonly<Record<string, unknown>>;
    const handler = module[exported];
    if (typeof handler !== 'function') throw new TypeError(`${file} exports no function "${exported}"`);
    return { ok: true, value: (await handler(args, context)) as unknown };
  } catch (thrown) {
    return { ok: false, ...told(thrown) };
  }
}

function told(thrown: unknown): Omit<Extract<Answer, { ok: false }>, 'ok'> {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  const { name, message, stack, cause } = thrown;
  const { delayMs } = thrown as { delayMs?: unknown };
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(typeof delayMs === 'number' ? { delayMs } : {}),
    ...(cause instanceof Error ? { cause: told(cause) } : {}),
  };
}

function messageOf(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}
