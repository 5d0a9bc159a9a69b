/** Viewers without a browser: sockets that follow what a page of the task list follows, and acknowledge as it does. */
import { DEFAULT_TASK_ORDER, PROTOCOL, SOCKET_PATH, type ClientEvents, type ServerEvents } from '@leasehold/wire';
import { io, type Socket } from 'socket.io-client';

export class Viewers {
  readonly #sockets: readonly Socket<ServerEvents, ClientEvents>[];

  private constructor(sockets: readonly Socket<ServerEvents, ClientEvents>[]) {
    this.#sockets = sockets;
  }

  /** Resolves when each has its first window. */
  static async open(url: string, count: number): Promise<Viewers> {
    const sockets = Array.from(
      { length: count },
      () =>
        io(url, {
          path: SOCKET_PATH,
          transports: ['websocket'],
          auth: { protocol: PROTOCOL },
          extraHeaders: { origin: url },
          forceNew: true,
        }) as Socket<ServerEvents, ClientEvents>,
    );
    await Promise.all(sockets.map(followList));
    return new Viewers(sockets);
  }

  close(): void {
    for (const socket of this.#sockets) socket.disconnect();
  }
}

function followList(socket: Socket<ServerEvents, ClientEvents>): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('connect_error', (error) => reject(error));
    socket.on('change', (_change, ack) => ack());
    socket.on('snapshot', (snapshot, ack) => {
      ack();
      if (snapshot.sub === 'list') resolve();
    });
    socket.on('connect', () => {
      const window = { offset: 0, limit: 120 };
      socket.emit('subscribe', {
        sub: 'list',
        query: { view: 'tasks', filter: {}, order: DEFAULT_TASK_ORDER, window },
      });
      for (const view of ['summary', 'queues', 'nodes'] as const)
        socket.emit('subscribe', { sub: view, query: { view, filter: {}, window: { offset: 0, limit: 500 } } });
    });
  });
}
