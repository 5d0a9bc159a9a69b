import { createServer } from 'node:net';

/** Where the board is looked for first: free on most machines, and easy to remember. */
export const DEFAULT_PORT = 7117;
const TRIES = 50;

/** Null when the port is free on this host; else why it is not. */
export function tryPort(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/** What PORT says, checked; undefined when it says nothing. */
export function readPort(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new RangeError(`PORT is ${text}; give a whole number from 1 to 65535`);
  }
  return port;
}

/**
 * The port of the board. One that somebody asked for is taken or refused, never replaced; without a wish it is the
 * first free one from `DEFAULT_PORT` on.
 */
export async function choosePort(wanted: number | undefined, host: string, first = DEFAULT_PORT): Promise<number> {
  if (wanted !== undefined) {
    const taken = await tryPort(wanted, host);
    if (taken === null) return wanted;
    throw new Error(
      `port ${wanted} on ${host} cannot be used (${taken}); free it, or leave PORT unset to get the next free one`,
    );
  }
  for (let port = first; port < first + TRIES; port++) {
    if ((await tryPort(port, host)) === null) return port;
  }
  throw new Error(
    `no free port from ${first} to ${first + TRIES - 1} on ${host}; free one, or set PORT to one that is free`,
  );
}
