import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startProxy, type Proxy } from '../src/index.js';

let server: Server;
let proxy: Proxy;
let received: string;
const clients: Socket[] = [];
const serverSide: Socket[] = [];

/** Echoes, and remembers what reached it. */
beforeEach(async () => {
  received = '';
  server = createServer((socket) => {
    serverSide.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.toString();
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  proxy = await startProxy(typeof address === 'object' && address !== null ? address.port : 0);
});

afterEach(async () => {
  for (const socket of [...clients.splice(0), ...serverSide.splice(0)]) socket.destroy();
  await proxy.close();
  await new Promise((resolve) => server.close(resolve));
});

class Client {
  readonly socket: Socket;
  got = '';
  closed = false;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    clients.push(this.socket);
    this.socket.on('data', (bytes) => (this.got += bytes.toString()));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.closed = true));
  }
}

async function open(): Promise<Client> {
  const client = new Client(proxy.port);
  await once(client.socket, 'connect');
  return client;
}

const eventually = <T>(value: () => T): ReturnType<typeof expect.poll<T>> =>
  expect.poll(value, { interval: 5, timeout: 5000 });

/** A round trip on another connection: what was on its way before has arrived by then. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  const direct = server.address();
  const probe = connect(typeof direct === 'object' && direct !== null ? direct.port : 0, '127.0.0.1');
  clients.push(probe);
  probe.write('.');
  await once(probe, 'data');
}

describe('the proxy', () => {
  it('passes bytes and the end of a connection both ways', async () => {
    const client = await open();
    client.socket.write('hello');
    await eventually(() => client.got).toBe('hello');
    client.socket.end();
    await eventually(() => client.closed).toBe(true);
    await eventually(() => proxy.connections).toBe(0);
  });

  it('passes more than any buffer holds', async () => {
    const client = await open();
    const large = 'x'.repeat(8 * 1024 * 1024);
    client.socket.write(large);
    await eventually(() => client.got.length).toBe(large.length);
  });

  it('kills open connections and accepts new ones', async () => {
    const before = await open();
    before.socket.write('a');
    await eventually(() => before.got).toBe('a');
    proxy.killConnections();
    await eventually(() => before.closed).toBe(true);
    const after = await open();
    after.socket.write('b');
    await eventually(() => after.got).toBe('b');
  });

  it('holds bytes while paused, on old and new connections, and loses none', async () => {
    const old = await open();
    old.socket.write('1');
    await eventually(() => old.got).toBe('1');
    proxy.pause();
    old.socket.write('2');
    const fresh = await open();
    fresh.socket.write('3');
    await settle();
    expect([old.got, fresh.got]).toEqual(['1', '']);
    proxy.resume();
    await eventually(() => [old.got, fresh.got]).toEqual(['12', '3']);
  });

  it('swallows what goes to the server, and resets the connection when the hole is lifted', async () => {
    const client = await open();
    client.socket.write('1');
    await eventually(() => client.got).toBe('1');
    proxy.blackhole('to-server');
    client.socket.write('lost');
    await settle();
    expect(received.replaceAll('.', '')).toBe('1');
    expect(client.closed).toBe(false);
    proxy.resume();
    await eventually(() => client.closed).toBe(true);
  });

  it('swallows only the answers when told so', async () => {
    const client = await open();
    proxy.blackhole('to-client');
    client.socket.write('asked');
    await eventually(() => received).toContain('asked');
    await settle();
    expect(client.got).toBe('');
  });

  it('keeps a connection that lost nothing in the black hole', async () => {
    const client = await open();
    client.socket.write('1');
    await eventually(() => client.got).toBe('1');
    proxy.blackhole('both');
    proxy.resume();
    client.socket.write('2');
    await eventually(() => client.got).toBe('12');
  });

  it('hides a hang-up of the server while bytes to the client are swallowed', async () => {
    const client = await open();
    client.socket.write('1');
    await eventually(() => client.got).toBe('1');
    proxy.blackhole('both');
    for (const socket of serverSide) socket.end();
    await settle();
    expect(client.closed).toBe(false);
    proxy.resume();
    await eventually(() => client.closed).toBe(true);
  });

  it('refuses new connections while told so, and keeps the open ones', async () => {
    const open1 = await open();
    await proxy.refuse(true);
    const refused = new Client(proxy.port);
    await eventually(() => refused.closed).toBe(true);
    open1.socket.write('still');
    await eventually(() => open1.got).toBe('still');
    await proxy.refuse(false);
    const again = await open();
    again.socket.write('back');
    await eventually(() => again.got).toBe('back');
  });
});
