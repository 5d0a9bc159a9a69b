/** A board with users, and browsers that sign in to it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { io, type Socket } from 'socket.io-client';
import { PROTOCOL, SOCKET_PATH, type ClientEvents, type ServerEvents } from '@leasehold/wire';
import { hashPassword, writeUsers, type AccessOptions, type GatewayOptions, type User } from '../src/index.js';
import { openWorld, type Answer, type Target, type World } from './world.js';

export const PASSWORD = 'correct horse battery';
/** Cheap to compute: these tests are not about the cost. */
const CHEAP = { ln: 10, r: 8, p: 1 };

export interface Browser {
  readonly cookie: string;
  readonly csrfToken: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface AccessWorld extends World {
  readonly usersFile: string;
  setUsers(users: readonly Omit<User, 'password'>[], password?: string): Promise<void>;
  signIn(user: string, password?: string): Promise<Browser>;
  audits(): Promise<readonly Record<string, unknown>[]>;
}

export const USERS: readonly Omit<User, 'password'>[] = [
  { name: 'vera', role: 'viewer' },
  { name: 'olga', role: 'operator' },
  { name: 'adam', role: 'admin' },
  { name: 'audrey', role: 'auditor' },
  { name: 'shop', role: 'operator', scope: { queues: ['shop'] } },
];

export async function openAccessWorld(
  access: AccessOptions = {},
  options: Partial<GatewayOptions> = {},
  target: Target = 'memory',
): Promise<AccessWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), 'leasehold-users-'));
  const usersFile = path.join(folder, 'users.json');
  const setUsers: AccessWorld['setUsers'] = async (users, password = PASSWORD) => {
    const hash = await hashPassword(password, CHEAP);
    await writeUsers(
      usersFile,
      users.map((user) => ({ ...user, password: hash })),
    );
  };
  await setUsers(USERS);
  const world = await openWorld(target, { access: { usersFile, ...access }, ...options });
  return {
    ...world,
    usersFile,
    setUsers,
    signIn: (user, password = PASSWORD) => signIn(world, user, password),
    audits: async () => {
      const key = world.store.keys.kind('audit');
      const { kvs } = await world.kv.range({ key, rangeEnd: `${key}\u{ffff}` });
      return kvs.map((kv) => JSON.parse(kv.value) as Record<string, unknown>);
    },
    close: async () => {
      await world.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

async function signIn(world: World, user: string, password: string): Promise<Browser> {
  const answer = await world.call('POST', '/auth/login', { user, password }, SAME_ORIGIN);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
  const cookie = cookies.join('; ');
  const csrfToken = /leasehold-csrf=([^;]+)/.exec(cookie)?.[1] ?? '';
  return {
    cookie,
    csrfToken,
    call: (method, at, body, headers = {}) => world.call(method, at, body, { ...SAME_ORIGIN, cookie, ...headers }),
  };
}

export type TestSocket = Socket<ServerEvents, ClientEvents>;

/** A socket as a browser opens it; nothing reconnects behind the test's back. */
export function openSocket(origin: string, headers: Record<string, string>): TestSocket {
  return io(origin, {
    path: SOCKET_PATH,
    auth: { protocol: PROTOCOL },
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    extraHeaders: headers,
  });
}

export function connected(socket: TestSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('connect_error', (error) => reject(Object.assign(error, { data: (error as { data?: unknown }).data })));
  });
}

export const refusalOf = (socket: TestSocket): Promise<Record<string, unknown>> =>
  connected(socket).then(
    () => {
      throw new Error('it was let in');
    },
    (error: { data?: Record<string, unknown>; message: string }) => ({ message: error.message, ...error.data }),
  );
