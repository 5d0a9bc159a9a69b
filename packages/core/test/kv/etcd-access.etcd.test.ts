/** etcd with TLS, client certificates and its own users: what a board and a worker may do there, and what not. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureEtcd } from '@leasehold/etcd-local';
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdFromEnvironment } from '../../src/kv/etcd-environment.js';
import { connectEtcd, createEtcdUser, type EtcdOptions } from '../../src/kv/etcd-kv.js';
import { grantsOf, type EtcdRole } from '../../src/kv/etcd-roles.js';
import { KvError, type Kv } from '../../src/kv/kv.js';
import { CLUSTER_ROOT } from '../../src/model/cluster-keys.js';
import { KEY_KINDS, Keys } from '../../src/model/keys.js';
import { createStore } from '../../src/store/create.js';
import { cancelTask } from '../../src/store/operate.js';
import { submitTask } from '../../src/store/submit.js';
import { normalizeSignature } from '../../src/model/validate.js';

const keys = new Keys('shop');
const PASSWORDS = { root: 'the root of it all', dashboard: 'a board may look', worker: 'a worker may work' } as const;
let folder = '';
let etcd: ChildProcess | undefined;
let port = 0;
const opened: Kv[] = [];

const file = (name: string): string => path.join(folder, name);

/** An authority, and two certificates that it signed; made here, good for a day. */
function makeCertificates(): void {
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '1', '-subj', '/CN=test authority');
  // A certificate's common name would be its etcd user: this one has none.
  writeFileSync(file('ext'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n');
  for (const name of ['server', 'client']) {
    openssl('req', '-new', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/O=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '1',
      '-extfile',
      'ext',
      '-out',
      `${name}.pem`,
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const found = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return found;
}

/** Resolves when the log says that it serves clients. */
async function startSecured(): Promise<void> {
  const { binary } = await ensureEtcd();
  port = await freePort();
  const peer = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const started = spawn(
    binary,
    [
      '--data-dir',
      file('data'),
      '--listen-client-urls',
      url,
      '--advertise-client-urls',
      url,
      '--listen-peer-urls',
      `http://127.0.0.1:${peer}`,
      '--initial-advertise-peer-urls',
      `http://127.0.0.1:${peer}`,
      '--initial-cluster',
      `default=http://127.0.0.1:${peer}`,
      '--unsafe-no-fsync',
      '--logger',
      'zap',
      '--cert-file',
      file('server.pem'),
      '--key-file',
      file('server.key'),
      '--client-cert-auth',
      '--trusted-ca-file',
      file('ca.pem'),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  etcd = started;
  let log = '';
  await new Promise<void>((resolve, reject) => {
    started.once('exit', (code) => reject(new Error(`etcd ended with ${code}: ${log.slice(-2_000)}`)));
    started.stderr.on('data', (data: Buffer) => {
      log += data.toString();
      if (/serving client traffic securely/.test(log)) resolve();
    });
  });
}

const environment = (user?: keyof typeof PASSWORDS): Record<string, string> => ({
  LEASEHOLD_ETCD_CA: file('ca.pem'),
  LEASEHOLD_ETCD_CERT: file('client.pem'),
  LEASEHOLD_ETCD_KEY: file('client.key'),
  ...(user === undefined ? {} : { LEASEHOLD_ETCD_USER: user, LEASEHOLD_ETCD_PASSWORD: PASSWORDS[user] }),
});

const optionsOf = (env: Record<string, string>): EtcdOptions => ({
  endpoints: [`https://127.0.0.1:${port}`],
  defaultTimeoutMs: 4_000,
  ...etcdFromEnvironment(env),
});

function connect(env: Record<string, string>): Kv {
  const kv = connectEtcd(optionsOf(env));
  opened.push(kv);
  return kv;
}

const grants = (role: EtcdRole) => grantsOf(role, { prefix: keys.prefix, kinds: KEY_KINDS, clusterRoot: CLUSTER_ROOT });

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'leasehold-tls-'));
  makeCertificates();
  await startSecured();
  const bare = optionsOf(environment());
  for (const role of ['dashboard', 'worker'] as const) {
    await createEtcdUser(bare, {
      name: role,
      password: PASSWORDS[role],
      role: `leasehold-${role}`,
      grants: grants(role),
    });
  }
  await createEtcdUser(bare, { name: 'root', password: PASSWORDS.root, role: 'root', grants: [] });
  const { credentials, endpoints } = bare;
  const admin = new Etcd3({ hosts: [...endpoints], ...(credentials === undefined ? {} : { credentials }) });
  await admin.auth.authEnable();
  admin.close();
}, 120_000);

afterAll(async () => {
  for (const kv of opened) await kv.close();
  if (etcd !== undefined && etcd.exitCode === null) {
    const gone = once(etcd, 'exit');
    etcd.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
});

const put = (kv: Kv, key: string) => kv.txn({ compare: [], success: [{ kind: 'put', key, value: '{}' }] });
const denied = (promise: Promise<unknown>) => expect(promise).rejects.toMatchObject({ code: 'denied' });

describe('an etcd with TLS and users', () => {
  test('nobody comes in without a certificate, or without a password', async () => {
    const { LEASEHOLD_ETCD_CA: ca } = environment();
    await expect(connect({ LEASEHOLD_ETCD_CA: ca ?? '' }).range({ key: 'a' })).rejects.toBeInstanceOf(KvError);
    await expect(connect(environment()).range({ key: keys.task('a') })).rejects.toBeInstanceOf(KvError);
    await expect(
      connect({ ...environment('worker'), LEASEHOLD_ETCD_PASSWORD: 'a wrong one' }).range({ key: keys.task('a') }),
    ).rejects.toBeInstanceOf(KvError);
  });

  test('a worker works in its namespace, and does not even read who may come in to the board', async () => {
    const kv = connect(environment('worker'));
    const store = createStore(kv, { namespace: 'shop' });
    const signature = normalizeSignature({ name: 'mail', args: [] }, {}, store.now());
    const { id } = await submitTask(store, { kind: 'client', name: 'test' }, signature);
    expect((await kv.range({ key: keys.task(id) })).kvs).toHaveLength(1);
    const lease = await kv.leaseGrant(5);
    await kv.txn({ compare: [], success: [{ kind: 'put', key: keys.node('n'), value: '{}', lease: lease.id }] });
    await kv.leaseKeepAlive(lease.id);
    await kv.leaseRevoke(lease.id);
    await denied(kv.range({ key: keys.token('t') }));
    await denied(kv.range({ key: keys.session('s') }));
    await denied(put(kv, keys.token('t')));
    await denied(kv.range({ key: new Keys('other').task(id) }));
    await denied(put(kv, '/somewhere/else'));
    store.committer.close();
  });

  test('a board reads its namespace and operates, but is no node and no leader', async () => {
    const kv = connect(environment('dashboard'));
    const store = createStore(kv, { namespace: 'shop' });
    const actor = { kind: 'operator', name: 'ann' } as const;
    const { id } = await submitTask(store, actor, normalizeSignature({ name: 'mail', args: [] }, {}, store.now()));
    await cancelTask(store, { actor, operationId: 'op-1', reason: 'test' }, id);
    await kv.range({ key: keys.prefix, rangeEnd: `${keys.prefix.slice(0, -1)}0` });
    await put(kv, keys.token('t'));
    for (const key of [keys.node('n'), keys.leader(), keys.epoch(), keys.stats('n'), `${CLUSTER_ROOT}compactor`])
      await denied(put(kv, key));
    await denied(kv.range({ key: new Keys('other').task(id) }));
    store.committer.close();
  });
});

describe('how a process reaches etcd, from its environment', () => {
  test('secrets may lie in files; half a setting is refused, and no message quotes a secret', () => {
    writeFileSync(file('password'), 'from a file\n');
    const user = { LEASEHOLD_ETCD_USER: 'u' };
    expect(etcdFromEnvironment({ ...user, LEASEHOLD_ETCD_PASSWORD_FILE: file('password') }).auth).toEqual({
      username: 'u',
      password: 'from a file',
    });
    expect(etcdFromEnvironment({})).toEqual({});
    expect(etcdFromEnvironment(environment()).credentials?.rootCertificate).toEqual(readFileSync(file('ca.pem')));
    const refused: readonly (readonly [Record<string, string>, RegExp])[] = [
      [user, /LEASEHOLD_ETCD_PASSWORD/],
      [{ LEASEHOLD_ETCD_PASSWORD: 'hunter2' }, /LEASEHOLD_ETCD_USER/],
      [{ ...user, LEASEHOLD_ETCD_PASSWORD: 'hunter2', LEASEHOLD_ETCD_PASSWORD_FILE: file('password') }, /not both/],
      [{ LEASEHOLD_ETCD_CERT: file('client.pem') }, /needs both/],
      [{ LEASEHOLD_ETCD_CERT: file('client.pem'), LEASEHOLD_ETCD_KEY: file('client.key') }, /LEASEHOLD_ETCD_CA/],
      [{ LEASEHOLD_ETCD_CA: file('password') }, /not PEM/],
      [{ LEASEHOLD_ETCD_CA: '/nowhere/ca.pem' }, /ENOENT/],
    ];
    for (const [env, message] of refused) {
      expect(() => etcdFromEnvironment(env)).toThrow(message);
      expect(() => etcdFromEnvironment(env)).not.toThrow(/hunter2|from a file/);
    }
  });
});
