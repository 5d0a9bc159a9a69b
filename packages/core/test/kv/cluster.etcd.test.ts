import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectEtcd, type Kv, type Op } from '../../src/kv/index.js';
import { codeOf, freshKeys, record } from './target.js';

const put = (key: string, value = ''): Op => ({ kind: 'put', key, value });

describe('with three members', () => {
  let etcd: RunningEtcd;
  const clients: Kv[] = [];
  const connect = (...endpoints: readonly string[]): Kv => {
    const kv = connectEtcd({ endpoints, defaultTimeoutMs: 2000 });
    clients.push(kv);
    return kv;
  };
  beforeAll(async () => {
    etcd = await startEtcd({ members: 3, unsafeNoFsync: true });
  });
  afterAll(async () => {
    await Promise.all(clients.map((kv) => kv.close()));
    await etcd.stop();
  });

  test('a member that lost its quorum closes its watches, and a client with all endpoints goes on when one dies', async () => {
    const { prefix } = freshKeys();
    const [first = '', second = '', third = ''] = etcd.endpoints;
    const everyone = connect(third, second, first);
    const lonely = connect(first);
    const { revision } = await everyone.txn({ compare: [], success: [put(`${prefix}a`)] });
    expect((await everyone.members()).length).toBe(3);
    const watch = record(lonely, { key: `${prefix}a`, startRevision: revision });
    await watch.until(() => watch.events.length === 1);

    await etcd.members[2]?.stop('SIGKILL');
    const until = Date.now() + 15_000;
    while ((await codeOf(everyone.txn({ compare: [], success: [put(`${prefix}b`)] }))) !== 'no error') {
      expect(Date.now()).toBeLessThan(until);
    }

    await etcd.members[1]?.stop('SIGKILL');
    await watch.until(() => watch.messages.at(-1)?.kind === 'closed');
    expect(watch.messages.at(-1)).toMatchObject({ cause: { code: 'unavailable' } });
    const write = await lonely.txn({ compare: [], success: [put(`${prefix}c`)] }).catch((error: unknown) => error);
    expect(write).toMatchObject({ ambiguous: true });
    const stale = await lonely.range({ key: `${prefix}a`, serializable: true });
    expect(stale.count).toBe(1);
  });
});

describe('with passwords, and tokens that live for a second', () => {
  let etcd: RunningEtcd;
  let kv: Kv;
  beforeAll(async () => {
    etcd = await startEtcd({ unsafeNoFsync: true, extraArgs: ['--auth-token-ttl', '1'] });
    await switchAuthOn(etcd.endpoints[0] ?? '');
    kv = connectEtcd({ endpoints: etcd.endpoints, auth: { username: 'root', password: 'secret' } });
  });
  afterAll(async () => {
    await kv.close();
    await etcd.stop();
  });

  test('calls outlive a token, and streams opened with a stale one end so that the next one works', async () => {
    const { prefix } = freshKeys();
    const { revision } = await kv.txn({ compare: [], success: [put(`${prefix}a`)] });
    const { id } = await kv.leaseGrant(60);
    for (const call of [
      () => kv.range({ key: `${prefix}a` }),
      () => kv.txn({ compare: [], success: [put(`${prefix}a`)] }),
      () => kv.leaseStatus(id),
    ]) {
      await sleep(2500);
      expect(await codeOf(call())).toBe('no error');
    }
    await sleep(2500);
    const stale = record(kv, { key: `${prefix}a`, startRevision: revision });
    await stale.until(() => stale.messages.length > 0);
    expect(stale.messages).toMatchObject([{ kind: 'closed', cause: { code: 'unavailable' } }]);
    const fresh = record(kv, { key: `${prefix}a`, startRevision: revision });
    await fresh.until(() => fresh.events.length === 2);
    await sleep(2500);
    const renewals = [await codeOf(kv.leaseKeepAlive(id)), await codeOf(kv.leaseKeepAlive(id))];
    expect(renewals.at(-1)).toBe('no error');
  });

  test('wrong credentials and none are denied', async () => {
    const wrong = connectEtcd({ endpoints: etcd.endpoints, auth: { username: 'root', password: 'wrong' } });
    const none = connectEtcd({ endpoints: etcd.endpoints });
    expect([await codeOf(wrong.range({ key: 'a' })), await codeOf(none.range({ key: 'a' }))]).toEqual([
      'denied',
      'denied',
    ]);
    const watch = record(none, { key: 'a', startRevision: 1n });
    await watch.until(() => watch.messages.length > 0);
    expect(watch.messages).toMatchObject([{ kind: 'closed', cause: { code: 'denied' } }]);
    await Promise.all([wrong.close(), none.close()]);
  });
});

/** The seam has no verbs for users, so the library is asked directly. */
async function switchAuthOn(endpoint: string): Promise<void> {
  const { Etcd3 } = createRequire(import.meta.url)('etcd3') as typeof import('etcd3');
  const admin = new Etcd3({ hosts: endpoint });
  await admin.auth.userAdd({ name: 'root', password: 'secret' });
  await admin.auth.roleAdd({ name: 'root' });
  await admin.auth.userGrantRole({ user: 'root', role: 'root' });
  await admin.auth.authEnable();
  admin.close();
}
