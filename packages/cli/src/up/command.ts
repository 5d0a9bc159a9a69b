import path from 'node:path';
import type { UpOptions } from './plan.js';
import { readPort } from './port.js';
import { makeReport, type Report } from './report.js';
import { up } from './run.js';

export const UP_USAGE = `Starts etcd, the example workers and the board on this machine, until Ctrl-C.
  leasehold up [--port N] [--namespace NAME] [--members 1|3] [--home DIR] [--no-workers] [--no-dashboard]

  --port          of the board; default is PORT, else the first free one from 7117 on
  --namespace     default is LEASEHOLD_NAMESPACE, else "default"
  --members       of etcd: 1 (default) or 3
  --home          where data and logs are kept; default is .leasehold in the current folder
`;

export interface UpArguments {
  readonly home?: string | undefined;
  readonly namespace?: string | undefined;
  readonly members?: string | undefined;
  readonly port?: string | undefined;
  readonly workers: boolean;
  readonly dashboard: boolean;
}

function readOptions(given: UpArguments): UpOptions {
  const { env } = process;
  const { members } = given;
  if (members !== undefined && members !== '1' && members !== '3') {
    throw new RangeError(`--members is 1 or 3, not ${members}`);
  }
  return {
    home: path.resolve(given.home ?? '.leasehold'),
    namespace: given.namespace ?? env['LEASEHOLD_NAMESPACE'] ?? 'default',
    // Loopback only: whoever reaches the board may submit and retry.
    host: '127.0.0.1',
    port: readPort(given.port ?? env['PORT']),
    members: members === undefined ? undefined : members === '3' ? 3 : 1,
    workers: given.workers,
    dashboard: given.dashboard,
  };
}

/**
 * Runs until a signal; gives the exit code. The caller ends the process with it: after a kill (130) parts may still be
 * about to go, and they go by themselves once their life line is cut.
 */
export async function runUp(given: UpArguments): Promise<number> {
  const report = makeReport((text) => process.stderr.write(text));
  const asked = new Signals();
  const killed = asked.second.then(() => {
    report.trouble('killed; what was running is taken over after its lease at the next start');
    return 130;
  });
  try {
    return await Promise.race([runUntilAsked(readOptions(given), report, asked.first), killed]);
  } catch (error) {
    report.trouble(`could not start: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    asked.close();
  }
}

async function runUntilAsked(options: UpOptions, report: Report, asked: AbortSignal): Promise<number> {
  const running = await up(options, report, asked);
  if (!asked.aborted) {
    const where = running.url ?? `etcd at ${running.endpoints.join(',')}`;
    process.stdout.write(`Leasehold is ready: ${where}\n`);
    report.step('Ctrl-C stops it; data is kept');
    await new Promise((resolve) => asked.addEventListener('abort', resolve, { once: true }));
  }
  await running.stop();
  return 0;
}

/** The first signal asks for an orderly stop, also while starting; the second one for an end at once. */
class Signals {
  readonly first: AbortSignal;
  readonly second: Promise<void>;
  readonly #listener: () => void;

  constructor() {
    const first = new AbortController();
    this.first = first.signal;
    let tellSecond = (): void => undefined;
    this.second = new Promise((resolve) => (tellSecond = resolve));
    this.#listener = () => {
      if (first.signal.aborted) tellSecond();
      first.abort();
    };
    for (const name of SIGNALS) process.on(name, this.#listener);
  }

  close(): void {
    for (const name of SIGNALS) process.off(name, this.#listener);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
