/**
 * A TCP proxy for fault tests: what a network does to connections, done on purpose.
 * P1 Bytes are never invented, reordered or silently skipped within a connection that goes on: a connection that lost bytes in a black hole is
 *    reset when the hole is lifted, as a peer's timeout would.
 * P2 While a direction is held or swallowed, the end of a connection does not pass it either: a partition hides hang-ups too.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

export type BlackholeDirection = 'both' | 'to-server' | 'to-client';

export interface Proxy {
  readonly port: number;
  /** `http://127.0.0.1:<port>`, to stand in for an etcd endpoint. */
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Resets every connection; new ones are accepted. */
  killConnections(): void;
  /** Holds both ways: connections stay open and are accepted, no byte passes until `resume`, none is lost. */
  pause(): void;
  /** Swallows bytes, as a partition does. */
  blackhole(direction: BlackholeDirection): void;
  /** Ends `pause` and `blackhole`. */
  resume(): void;
  /** While on, new connections are refused by the system; open ones go on. */
  refuse(on: boolean): Promise<void>;
  close(): Promise<void>;
}

type Mode = 'pass' | 'hold' | 'swallow';
type Way = 'toServer' | 'toClient';
type Modes = Readonly<Record<Way, Mode>>;

const PASS: Modes = { toServer: 'pass', toClient: 'pass' };
const HOLD: Modes = { toServer: 'hold', toClient: 'hold' };
const SWALLOW: Readonly<Record<BlackholeDirection, Modes>> = {
  both: { toServer: 'swallow', toClient: 'swallow' },
  'to-server': { toServer: 'swallow', toClient: 'pass' },
  'to-client': { toServer: 'pass', toClient: 'swallow' },
};

export async function startProxy(targetPort: number): Promise<Proxy> {
  const links = new Set<Link>();
  let modes: Modes = PASS;
  const setModes = (next: Modes): void => {
    modes = next;
    for (const link of links) link.apply(next);
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const link: Link = new Link(client, target, () => links.delete(link));
    links.add(link);
    link.apply(modes);
  });
  const port = await listen(server, 0);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return links.size;
    },
    killConnections: () => links.forEach((link) => link.reset()),
    pause: () => setModes(HOLD),
    blackhole: (direction) => setModes(SWALLOW[direction]),
    resume: () => setModes(PASS),
    refuse: async (on) => {
      if (on) stopListening(server);
      else if (!server.listening) await listen(server, port);
    },
    close: async () => {
      links.forEach((link) => link.reset());
      await closed(server);
    },
  };
}

/** One client's connection and its twin to the server. */
class Link {
  readonly #sockets: Readonly<Record<Way, { readonly from: Socket; readonly to: Socket }>>;
  readonly #ended: Record<Way, boolean> = { toServer: false, toClient: false };
  #modes: Modes = PASS;
  #lostBytes = false;
  #broken = false;

  constructor(client: Socket, target: Socket, onGone: () => void) {
    this.#sockets = { toServer: { from: client, to: target }, toClient: { from: target, to: client } };
    for (const way of ['toServer', 'toClient'] as const) this.#pump(way);
    let open = 2;
    for (const socket of [client, target]) {
      socket.on('error', () => undefined);
      socket.once('close', () => {
        open -= 1;
        if (open === 0) onGone();
      });
    }
  }

  #pump(way: Way): void {
    const { from, to } = this.#sockets[way];
    from.on('data', (bytes) => {
      if (this.#modes[way] === 'swallow') this.#lostBytes = true;
      else if (!to.write(bytes)) from.pause();
    });
    to.on('drain', () => this.#modes[way] !== 'hold' && from.resume());
    from.once('end', () => {
      this.#ended[way] = true;
      this.#passEnd(way);
    });
    // An abrupt end: the other side hears of it only if this way is open (P2).
    from.once('error', () => {
      this.#broken = true;
      if (this.#modes[way] === 'pass') this.reset();
    });
  }

  #passEnd(way: Way): void {
    if (this.#ended[way] && this.#modes[way] === 'pass') this.#sockets[way].to.end();
  }

  apply(modes: Modes): void {
    const before = this.#modes;
    this.#modes = modes;
    for (const way of ['toServer', 'toClient'] as const) {
      if (this.#mustReset(modes[way])) return this.reset();
      const { from } = this.#sockets[way];
      if (modes[way] === 'hold') from.pause();
      else if (before[way] === 'hold') from.resume();
      this.#passEnd(way);
    }
  }

  /** P1: what was swallowed can't be delivered any more. */
  #mustReset(mode: Mode): boolean {
    return mode === 'pass' && (this.#lostBytes || this.#broken);
  }

  reset(): void {
    for (const { from } of Object.values(this.#sockets)) {
      if (from.connecting) from.destroy();
      else from.resetAndDestroy();
    }
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Stops accepting at once; the open connections are not waited for. */
function stopListening(server: Server): void {
  if (server.listening) server.close();
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}
