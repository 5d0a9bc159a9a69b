/**
 * Three etcd members whose connections to each other go through proxies, and doors for clients: each client reaches the
 * members through proxies of its own, so that one can be cut off while the others are not.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startEtcd, startProxy, type EtcdMember, type Proxy, type RunningEtcd } from '@leasehold/etcd-local';
import { connectEtcd, type Kv } from '../../src/kv/index.js';

/** Small, so that a test can fill it: the history is compacted every few seconds and stays far below. */
const QUOTA_BYTES = 192 * 1024 * 1024;

const run = promisify(execFile);

/** One client's way to the cluster. */
export class Door {
  readonly endpoints: readonly string[];
  readonly #proxies: readonly Proxy[];

  constructor(proxies: readonly Proxy[]) {
    this.#proxies = proxies;
    this.endpoints = proxies.map(({ url }) => url);
  }

  all(act: (proxy: Proxy) => void): void {
    this.#proxies.forEach(act);
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

export class Cluster {
  readonly etcd: RunningEtcd;
  /** In front of each member's peer port, in the members' order. */
  readonly peers: readonly Proxy[];
  /** A connection past all proxies, for the observer. */
  readonly kv: Kv;
  readonly #doors: Door[] = [];

  private constructor(etcd: RunningEtcd, peers: readonly Proxy[]) {
    this.etcd = etcd;
    this.peers = peers;
    this.kv = connectEtcd({ endpoints: etcd.endpoints });
  }

  static async start(): Promise<Cluster> {
    const peers: Proxy[] = [];
    const etcd = await startEtcd({
      members: 3,
      quotaBackendBytes: QUOTA_BYTES,
      peerDoors: async (ports) => {
        for (const { peer } of ports) peers.push(await startProxy(peer));
        return peers.map(({ port }) => port);
      },
    });
    return new Cluster(etcd, peers);
  }

  get members(): readonly EtcdMember[] {
    return this.etcd.members;
  }

  async door(): Promise<Door> {
    const ports = this.etcd.endpoints.map((endpoint) => Number(new URL(endpoint).port));
    const door = new Door(await Promise.all(ports.map((port) => startProxy(port))));
    this.#doors.push(door);
    return door;
  }

  /** The member that leads now, as far as one that answers knows; undefined while there is none. */
  async leader(): Promise<number | undefined> {
    for (const [index, endpoint] of this.etcd.endpoints.entries()) {
      if (this.members[index]?.running !== true) continue;
      const kv = connectEtcd({ endpoints: [endpoint] });
      try {
        const { leaderId, memberId } = await kv.status({ timeoutMs: 500 });
        if (leaderId === memberId) return index;
      } catch {
        // One that is frozen or without a quorum says nothing.
      } finally {
        await kv.close();
      }
    }
    return undefined;
  }

  /** etcdctl, on all members or on one. */
  async ctl(args: readonly string[], member?: number): Promise<string> {
    const { etcdctl, endpoints } = this.etcd;
    if (etcdctl === undefined) throw new Error('there is no etcdctl beside this etcd');
    const to = member === undefined ? endpoints.join(',') : (endpoints[member] ?? '');
    const { stdout } = await run(etcdctl, ['--endpoints', to, '--command-timeout=60s', ...args], {
      env: { ETCDCTL_API: '3' },
    });
    return stdout;
  }

  get canFill(): boolean {
    return this.etcd.etcdctl !== undefined;
  }

  async stop(): Promise<void> {
    await this.kv.close();
    await this.etcd.stop();
    await Promise.all([...this.#doors, ...this.peers].map((one) => one.close()));
  }
}
