import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { choosePort, readPort, tryPort } from '../src/up/port.js';

const HOST = '127.0.0.1';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function occupy(port = 0): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, HOST, resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('a port that was asked for is taken or refused, never replaced', async () => {
  const taken = await occupy();
  await expect(choosePort(taken, HOST)).rejects.toThrow(/cannot be used \(EADDRINUSE\)/);
  servers.splice(0).forEach((server) => server.close());
  expect(await choosePort(taken, HOST)).toBe(taken);
});

test('without a wish it is the next free one', async () => {
  const first = await occupy();
  expect(await choosePort(undefined, HOST, first)).toBeGreaterThan(first);
});

test('PORT is a whole number in range, or says nothing', () => {
  expect(readPort(undefined)).toBeUndefined();
  expect(readPort(' ')).toBeUndefined();
  expect(readPort('8080')).toBe(8080);
  for (const bad of ['0', '65536', '8080.5', 'http', '-1']) expect(() => readPort(bad)).toThrow(RangeError);
});

test('trying a port leaves it free', async () => {
  const port = await occupy();
  servers.splice(0).forEach((server) => server.close());
  expect(await tryPort(port, HOST)).toBeNull();
  expect(await tryPort(port, HOST)).toBeNull();
});
