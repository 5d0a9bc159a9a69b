/** The worker processes, each behind a door of its own. One that ends is started again by whoever ended it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cluster, Door } from './cluster.js';

const FILE = fileURLToPath(new URL('child-node.ts', import.meta.url));

interface Message {
  readonly ran?: readonly string[];
  readonly ready?: boolean;
}

export class CrewMember {
  readonly door: Door;
  readonly #start: () => ChildProcess;
  #process: ChildProcess;
  /** Runs as they were told, `<task> <attempt> <epoch> <token> <pid> <ms>`. */
  readonly ran: string[];

  constructor(door: Door, ran: string[], start: (door: Door) => ChildProcess) {
    this.door = door;
    this.ran = ran;
    this.#start = () => start(door);
    this.#process = this.#launch();
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  #launch(): ChildProcess {
    const child = this.#start();
    child.on('message', ({ ran }: Message) => ran !== undefined && this.ran.push(...ran));
    // A process that is killed breaks its channel; whoever sends to it then hears that here.
    child.on('error', () => undefined);
    return child;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    if (this.running) this.#process.kill(name);
  }

  async kill(): Promise<void> {
    if (!this.running) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  /** In good order; killed when that takes longer than it may. */
  async stop(mostMs: number): Promise<void> {
    if (!this.running) return;
    const gone = once(this.#process, 'exit');
    this.send({ stop: true });
    const late = setTimeout(() => this.#process.kill('SIGKILL'), mostMs);
    await gone;
    clearTimeout(late);
  }

  restart(): void {
    if (!this.running) this.#process = this.#launch();
  }

  send(message: { readonly offMs: number } | { readonly stop: true }): void {
    if (this.running && this.#process.connected) this.#process.send(message);
  }
}

export class Crew {
  readonly members: readonly CrewMember[];
  readonly ran: string[];

  private constructor(members: readonly CrewMember[], ran: string[]) {
    this.members = members;
    this.ran = ran;
  }

  static async start(cluster: Cluster, namespace: string, size: number, ttlMs: number): Promise<Crew> {
    const ran: string[] = [];
    const launch = (door: Door): ChildProcess =>
      fork(FILE, [door.endpoints.join(','), namespace, String(ttlMs)], {
        execArgv: ['--import', 'tsx', '--conditions=leasehold-source'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
    const members = await Promise.all(
      Array.from({ length: size }, async () => new CrewMember(await cluster.door(), ran, launch)),
    );
    return new Crew(members, ran);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.members.map(async (member) => {
        member.signal('SIGCONT');
        await member.kill();
      }),
    );
  }
}

/**
 * What a store that accepts only growing tokens would have refused: a run whose token is not above that of an earlier
 * attempt of the same task (I3). Attempts may be told of out of order, so they are compared as a whole.
 */
export function tokensOutOfOrder(ran: readonly string[]): readonly string[] {
  const byTask = new Map<
    string,
    { readonly attempt: number; readonly token: readonly [bigint, bigint]; readonly line: string }[]
  >();
  for (const line of ran) {
    const [id = '', attempt = '', epoch = '', revision = ''] = line.split(' ');
    const runs = byTask.get(id) ?? [];
    runs.push({ attempt: Number(attempt), token: [BigInt(epoch), BigInt(revision)], line });
    byTask.set(id, runs);
  }
  const wrong: string[] = [];
  for (const runs of byTask.values()) {
    runs.sort((a, b) => a.attempt - b.attempt);
    for (const [i, run] of runs.entries()) {
      const before = runs[i - 1];
      if (before === undefined) continue;
      if (before.attempt === run.attempt) wrong.push(`an attempt ran twice: ${before.line} and ${run.line}`);
      else if (!above(run.token, before.token)) wrong.push(`a token did not grow: ${before.line} and ${run.line}`);
    }
  }
  return wrong;
}

function above([epoch, revision]: readonly [bigint, bigint], [epoch2, revision2]: readonly [bigint, bigint]): boolean {
  return epoch > epoch2 || (epoch === epoch2 && revision > revision2);
}
