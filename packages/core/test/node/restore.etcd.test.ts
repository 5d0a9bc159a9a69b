/**
 * A snapshot is taken while tasks are queued, running and scheduled; etcd goes on, is lost, and is restored from the
 * snapshot. Revisions that were used after the snapshot are used again.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { afterEach, describe, expect, it } from 'vitest';
import { connect, defineTask, handle, startNode, type Client, type SchedulerNode } from '../../src/index.js';
import {
  claim,
  loopRenewer,
  openSession,
  raiseEpoch,
  readEpoch,
  settle,
  type Held,
  type Holder,
  type Session,
} from '../../src/store/index.js';
import { checkHistory, readHistory } from '../../src/verify/index.js';
import { seen } from '../../src/store/claim.js';
import { silentLogger, systemClock } from '../../src/runtime/index.js';
import { NODE } from '../store/stores.js';

const run = promisify(execFile);
const NAMESPACE = 'restored';
const add = defineTask('add', { args: ['int64'], results: ['int64'] });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'leasehold-restore-'));
  closing.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

function client(etcd: RunningEtcd): Client {
  const made = connect({ etcd: { endpoints: etcd.endpoints }, namespace: NAMESPACE });
  closing.push(() => made.close());
  return made;
}

/** Opened under the epoch of its time, as a worker's is. */
async function session({ store }: Client): Promise<Session> {
  const made = await openSession({
    store,
    clock: systemClock,
    logger: silentLogger,
    renewer: loopRenewer,
    node: NODE,
    ttlMs: 5_000,
  });
  closing.push(() => made.revoke());
  return made;
}

async function claimOne({ store }: Client, holder: Holder, id: string): Promise<Held> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  const [candidate] = seen(kv);
  if (candidate === undefined) throw new Error(`no task ${id}`);
  const result = await claim(store, holder, { ...candidate, settings: { queue: 0n, name: 0n, all: 0n }, slots: [] });
  if (result.kind !== 'claimed') throw new Error(`${id} was not claimed: ${result.kind}`);
  return result.held;
}

/** What `etcdctl snapshot restore` makes: a data directory whose history ends at the snapshot. */
async function restore(etcd: RunningEtcd, snapshot: string): Promise<RunningEtcd> {
  const [member] = etcd.members;
  if (member === undefined || etcd.etcdctl === undefined) throw new Error('no etcdctl');
  const dataDir = path.join(await folder(), 'data');
  const to = path.join(dataDir, member.name);
  const names = ['--name', member.name, '--initial-cluster', `${member.name}=${member.peerUrl}`];
  const place = ['--initial-advertise-peer-urls', member.peerUrl, '--data-dir', to];
  await run(etcd.etcdctl, ['snapshot', 'restore', snapshot, ...names, ...place], { env: { ETCDCTL_API: '3' } });
  const ports = [{ client: Number(new URL(member.clientUrl).port), peer: Number(new URL(member.peerUrl).port) }];
  const restored = await startEtcd({ dataDir, ports, members: 1, unsafeNoFsync: true });
  closing.push(() => restored.stop());
  return restored;
}

describe('etcd restored from a snapshot', () => {
  it(
    'with the epoch raised, an attempt from before it settles nothing, and everything of the snapshot is run to its end',
    { timeout: 90_000 },
    async () => {
      const etcd = await startEtcd({ unsafeNoFsync: true });
      closing.push(() => etcd.stop());
      const before = client(etcd);
      const waiting = await before.submit(add.signature([1n]));
      const running = await before.submit(add.signature([2n]));
      const old = await session(before);
      const { holder } = old;
      const held = await claimOne(before, holder, running.id);

      const snapshot = path.join(await folder(), 'snapshot.db');
      await run(etcd.etcdctl ?? '', ['--endpoints', etcd.endpoints[0] ?? '', 'snapshot', 'save', snapshot], {
        env: { ETCDCTL_API: '3' },
      });
      // The lost history: a task that only it knows, and a claim of one that both know.
      const lost = await before.submit(add.signature([3n]));
      const heldInLostHistory = await claimOne(before, holder, waiting.id);
      await etcd.stop();
      const restored = await restore(etcd, snapshot);

      const operator = client(restored);
      const raised = await raiseEpoch(operator.store, operator.call('restored from last night'));
      expect(raised.epoch).toBeGreaterThan(1_700_000_000_000n);
      expect(await readEpoch(operator.store)).toBe(raised.epoch);

      // The old session still has its lease and its lock, for etcd restored them too: only the epoch stands between.
      const [lock] = (await operator.store.kv.range({ key: operator.store.keys.lock(running.id) })).kvs;
      expect(lock?.createRevision).toBe(held.token);
      for (const one of [held, heldInLostHistory]) {
        const outcome = { kind: 'success', results: [{ type: 'int64', value: '99' }] } as const;
        const { kind } = await settle(before.store, holder, one, outcome);
        expect(kind).not.toBe('settled');
      }

      // As a worker does every few seconds.
      await old.check();
      expect(old.end).toBe('fenced');

      const ran = new Map<string, { attempt: number; epoch: bigint }>();
      const node: SchedulerNode = await startNode({
        etcd: { endpoints: restored.endpoints },
        namespace: NAMESPACE,
        handlers: [
          handle(add, ([n], { id, attempt, token }) => {
            ran.set(id, { attempt, epoch: token.epoch });
            return n;
          }),
        ],
        leaseTtlMs: 2_000,
        logger: silentLogger,
      });
      closing.push(() => node.stop());
      for (const [one, n] of [
        [waiting, 1n],
        [running, 2n],
      ] as const) {
        const handleOfOne = await operator.handle(one.id);
        expect(await handleOfOne.result({ timeoutMs: 40_000 })).toEqual([n]);
      }
      expect(ran.get(waiting.id)).toEqual({ attempt: 1, epoch: raised.epoch });
      expect(ran.get(running.id)).toEqual({ attempt: 2, epoch: raised.epoch });
      // Acknowledged after the snapshot: nothing can bring it back, and its submitter may submit it again under its id.
      expect(await operator.get(lost.id)).toBeUndefined();
      const again = await operator.submit(add.signature([3n]), { id: lost.id });
      expect(await again.result({ timeoutMs: 20_000 })).toEqual([3n]);

      const history = await readHistory(operator.store.kv, operator.store.keys);
      const revisions = [];
      for await (const revision of history.revisions) revisions.push(revision);
      expect(checkHistory(revisions, { namespace: NAMESPACE, start: history.start, quiet: true })).toEqual([]);
    },
  );
});
