/**
 * `leasehold up`: etcd, the example workers and the board, as one program.
 *
 * U1  Started in the order of need: etcd, then workers and board at once.
 * U2  Stopped in the opposite order: the workers drain while etcd still answers, then the board, then etcd. Data is kept.
 * U3  A second signal ends this process at once; the parts see their life line cut and end too, and etcd is ended by its
 *     guard. What they were doing is taken over after its lease, as after any crash.
 */
import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { notePath, type RunNote } from '../place.js';
import { openLog } from './log-file.js';
import { Part } from './part.js';
import { dashboardProgram, partEnvironment, places, WORKERS, workerProgram, type UpOptions } from './plan.js';
import { choosePort } from './port.js';
import type { Report } from './report.js';

/** Above the workers' own limit for draining, so that they have the first word. */
const WORKER_GRACE_MS = 20_000;
const DASHBOARD_GRACE_MS = 5_000;
const READY_MS = 60_000;

export interface Running {
  readonly url: string | undefined;
  readonly endpoints: readonly string[];
  stop(): Promise<void>;
}

interface Parts {
  readonly workers: readonly Part[];
  readonly board: Part | undefined;
}

/** Resolves when everything is up, or as soon as `asked` is aborted: then there is only something to stop. */
export async function up(options: UpOptions, report: Report, asked: AbortSignal): Promise<Running> {
  const port = options.dashboard ? await choosePort(options.port, options.host) : undefined;
  const where = places(options.home);
  const etcd = await startEtcdKept(options, where.etcd, report);
  const parts = makeParts(options, etcd.endpoints, port, report);
  const system = new System(etcd, parts, report);
  const url = port === undefined ? undefined : `http://${options.host}:${port}`;
  const running: Running = {
    url,
    endpoints: etcd.endpoints,
    stop: async () => {
      rmSync(notePath(options.home), { force: true });
      await system.stop();
    },
  };
  if (asked.aborted) return running;
  try {
    for (const part of [...parts.workers, parts.board]) part?.start();
    const aborted = new Promise((resolve) => asked.addEventListener('abort', resolve, { once: true }));
    await Promise.race([untilUp(parts, report, where.logs), aborted]);
    writeNote(options, { endpoints: etcd.endpoints, namespace: options.namespace, url, pid: process.pid });
    return running;
  } catch (error) {
    await system.stop();
    throw error;
  }
}

/** So that `leasehold ls` in the same folder finds it. */
function writeNote({ home }: UpOptions, note: RunNote): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(notePath(home), `${JSON.stringify(note)}\n`);
}

/** A worker that does not come up is reported and tried again; without the board there is nothing to show. */
async function untilUp(parts: Parts, report: Report, logs: string): Promise<void> {
  const workers = Promise.all(parts.workers.map((part) => tellReady(part, report, logs)));
  if (parts.board !== undefined && !(await tellReady(parts.board, report, logs))) {
    throw new Error(`the board does not come up; see ${logs}/dashboard.log`);
  }
  await workers;
}

async function startEtcdKept(options: UpOptions, dataDir: string, report: Report): Promise<RunningEtcd> {
  report.step('etcd: starting');
  const etcd = await startEtcd({
    dataDir,
    ...(options.members === undefined ? {} : { members: options.members }),
    onProgress: (message) => report.step(`etcd: ${message}`),
    onUnexpectedExit: (message) => {
      report.trouble(`etcd: ${message}; starting it again`);
      void revive(etcd, report);
    },
  });
  report.step(`etcd: ${etcd.version} at ${etcd.endpoints.join(', ')}`);
  return etcd;
}

/** A member that died unasked is started again once; the parts meanwhile wait for it. */
async function revive(etcd: RunningEtcd, report: Report): Promise<void> {
  for (const member of etcd.members.filter(({ running }) => !running)) {
    try {
      await member.restart();
      report.step(`etcd: ${member.name} is up again`);
    } catch (error) {
      report.trouble(
        `etcd: ${member.name} does not come up again: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

function makeParts(options: UpOptions, endpoints: readonly string[], port: number | undefined, report: Report): Parts {
  const where = places(options.home);
  const env = partEnvironment(options, endpoints, where.work);
  const make = (name: string, file: string, graceMs: number, more: Record<string, string>): Part =>
    new Part({
      name,
      file,
      env: { ...env, ...more },
      log: openLog(where.logs, name),
      graceMs,
      onNews: (message) => report.trouble(message),
    });
  const workers = options.workers
    ? WORKERS.map((name) => make(`worker-${name}`, workerProgram(name), WORKER_GRACE_MS, {}))
    : [];
  if (port === undefined) return { workers, board: undefined };
  const address = { HOST: options.host, PORT: String(port), NODE_ENV: 'production' };
  return { workers, board: make('dashboard', dashboardProgram(), DASHBOARD_GRACE_MS, address) };
}

async function tellReady(part: Part, report: Report, logs: string): Promise<boolean> {
  const readiness = await part.untilReady(READY_MS);
  if (readiness === 'ready') report.step(`${part.name}: ready (pid ${part.pid ?? '?'})`);
  else {
    const what = readiness === 'exited' ? 'ended before it was ready' : `is not ready after ${READY_MS / 1000} s`;
    report.trouble(`${part.name} ${what}; its last lines (all of them: ${logs}/${part.name}.log)`, part.lastLines);
  }
  return readiness === 'ready';
}

class System {
  readonly #etcd: RunningEtcd;
  readonly #parts: Parts;
  readonly #report: Report;
  #stopped: Promise<void> | undefined;

  constructor(etcd: RunningEtcd, parts: Parts, report: Report) {
    this.#etcd = etcd;
    this.#parts = parts;
    this.#report = report;
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stopInOrder());
  }

  async #stopInOrder(): Promise<void> {
    const { workers, board } = this.#parts;
    if (workers.length > 0) this.#report.step('workers: finishing what they have begun');
    await Promise.all(workers.map((part) => this.#stopPart(part)));
    if (board !== undefined) await this.#stopPart(board);
    await this.#etcd.stop();
    this.#report.step('etcd: stopped; its data is kept');
  }

  async #stopPart(part: Part): Promise<void> {
    const gracefully = await part.stop();
    this.#report.step(`${part.name}: ${gracefully ? 'stopped' : 'did not stop in time and was killed'}`);
  }
}
