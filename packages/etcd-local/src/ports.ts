import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

export interface MemberPorts {
  readonly client: number;
  readonly peer: number;
}

const LOWEST = 20_000;

/**
 * Free loopback ports, below the range from which the system takes ports for outgoing connections. A member that a test stops for a while would
 * otherwise find its port taken by some client's socket when it comes back.
 */
export async function freePorts(count: number, taken: readonly number[] = []): Promise<number[]> {
  const highest = (await lowestEphemeral()) - 1;
  const chosen = new Set<number>();
  while (chosen.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (highest - LOWEST));
    if (!chosen.has(port) && !taken.includes(port) && (await isFree(port))) chosen.add(port);
  }
  return [...chosen];
}

async function lowestEphemeral(): Promise<number> {
  const text = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '');
  const lowest = Number.parseInt(text, 10);
  // Elsewhere, and on machines set up otherwise, the range of the standard begins at 49152.
  return lowest > LOWEST + 1000 ? lowest : 49_152;
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
