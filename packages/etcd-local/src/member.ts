/**
 * One etcd process. M1: it runs in a process group of its own, so that Ctrl-C reaches the program that uses it first, which then stops it in
 * good order. M2: only this file knows its pid, and signals nothing after the process has exited.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdLocalError } from './errors.js';
import { openLog, readLog } from './etcd-log.js';
import { waitHealthy } from './health.js';
import type { MemberPorts } from './ports.js';
import { signal } from './process.js';
import { guardAgainstOwnDeath } from './reaper.js';
import { etcdEnvironment } from './version.js';

export interface MemberSpec {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  readonly ports: MemberPorts;
  readonly directory: string;
  readonly logFile: string;
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  /** Removed with the process if we die hard. */
  readonly temporary: string | undefined;
  /** Called whenever the pid changes, before anybody can wait for health. */
  readonly onPid: () => Promise<void>;
  readonly onUnexpectedExit: (message: string) => void;
}

export interface EtcdMember {
  readonly name: string;
  /** 0 while it does not run. */
  readonly pid: number;
  readonly running: boolean;
  readonly clientUrl: string;
  readonly peerUrl: string;
  readonly logFile: string;
  /** Stops it and waits until it has gone. SIGTERM by default; SIGKILL crashes it. Data stays. */
  stop(by?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<void>;
  /** Starts it again on the same ports and data, stopping it first if it runs. Waits until healthy unless told otherwise: without a quorum it never is. */
  restart(options?: { readonly waitHealthy?: boolean }): Promise<void>;
  /** Freezes the process: connections stay open, nothing answers. */
  pause(): void;
  resume(): void;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<string>;
  readonly gone: AbortSignal;
}

export class Member implements EtcdMember {
  readonly #spec: MemberSpec;
  #running: Running | undefined;
  #stopping = false;
  #logOffset = 0;

  constructor(spec: MemberSpec) {
    this.#spec = spec;
  }

  get name(): string {
    return this.#spec.name;
  }
  get pid(): number {
    return this.#running?.pid ?? 0;
  }
  get running(): boolean {
    return this.#running !== undefined;
  }
  get clientUrl(): string {
    return `http://127.0.0.1:${this.#spec.ports.client}`;
  }
  get peerUrl(): string {
    return `http://127.0.0.1:${this.#spec.ports.peer}`;
  }
  get logFile(): string {
    return this.#spec.logFile;
  }

  /** Starts the process, without waiting for health: the members of a cluster need each other for that. */
  async launch(): Promise<void> {
    const { binary, args, directory, logFile, name } = this.#spec;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const log = await openLog(logFile);
    const child = spawn(binary, args, {
      detached: true,
      env: etcdEnvironment(),
      stdio: ['ignore', log.handle.fd, log.handle.fd],
    });
    await log.handle.close();
    if (child.pid === undefined) {
      const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
      throw new EtcdLocalError('ETCD_START_FAILED', `cannot run ${binary}: ${cause.message}`, { cause });
    }
    this.#logOffset = log.offset;
    this.#stopping = false;
    this.#running = this.#follow(child, child.pid, name);
    await this.#spec.onPid();
  }

  #follow(child: ChildProcess, pid: number, name: string): Running {
    const gone = new AbortController();
    const dismiss = guardAgainstOwnDeath(pid, this.#spec.temporary);
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, by) => {
        dismiss();
        const expected = this.#stopping;
        this.#running = undefined;
        gone.abort();
        const message = `etcd ${name} (pid ${pid}) ${by === null ? `exited with ${code}` : `was ended by ${by}`}`;
        resolve(message);
        if (!expected) this.#spec.onUnexpectedExit(message);
      });
    });
    return { child, pid, exited, gone: gone.signal };
  }

  /** Throws when the process exits or stays unhealthy until the deadline, with the last lines of its log. */
  async untilHealthy(): Promise<void> {
    const running = this.#running;
    if (running === undefined) throw await this.#failure('ETCD_START_FAILED', `etcd ${this.name} exited at once`);
    const unhealthy = await waitHealthy(this.clientUrl, this.#spec.startTimeoutMs, running.gone);
    if (running.gone.aborted) throw await this.#failure('ETCD_START_FAILED', await running.exited);
    if (unhealthy === undefined) return;
    const waited = `etcd ${this.name} is not healthy after ${this.#spec.startTimeoutMs / 1000} s (${unhealthy})`;
    throw await this.#failure('ETCD_UNHEALTHY', waited);
  }

  async #failure(code: 'ETCD_START_FAILED' | 'ETCD_UNHEALTHY', what: string): Promise<EtcdLocalError> {
    const lines = await readLog(this.#spec.logFile, this.#logOffset);
    const said = lines.length === 0 ? 'It logged nothing.' : `It said:\n  ${lines.join('\n  ')}`;
    return new EtcdLocalError(code, `${what}. ${said}\nFull log: ${this.#spec.logFile}`);
  }

  async stop(by: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#stopping = true;
    signal(running.pid, by);
    // A paused process takes no other signal than SIGKILL.
    if (by !== 'SIGKILL') signal(running.pid, 'SIGCONT');
    await this.#untilExit(running);
    await this.#spec.onPid();
  }

  async #untilExit(running: Running): Promise<void> {
    const timer = new AbortController();
    const overdue = delay(this.#spec.stopTimeoutMs, true, { signal: timer.signal }).catch(() => false);
    const late = await Promise.race([running.exited.then(() => false), overdue]);
    timer.abort();
    if (late && this.#running === running) signal(running.pid, 'SIGKILL');
    await running.exited;
  }

  async restart(options: { readonly waitHealthy?: boolean } = {}): Promise<void> {
    await this.stop();
    await this.launch();
    if (options.waitHealthy !== false) await this.untilHealthy();
  }

  pause(): void {
    this.#signalRunning('SIGSTOP');
  }

  resume(): void {
    this.#signalRunning('SIGCONT');
  }

  #signalRunning(name: NodeJS.Signals): void {
    if (this.#running !== undefined) signal(this.#running.pid, name);
  }
}
