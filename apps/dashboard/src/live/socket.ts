'use client';
/** The only importer of socket.io-client. It reads: nothing is ever changed over the socket. */
import { PROTOCOL, SOCKET_PATH, type ClientEvents, type ServerEvents } from '@leasehold/wire';
import { io, type Socket } from 'socket.io-client';
import { basePath } from '../base-path';

export type LiveSocket = Socket<ServerEvents, ClientEvents>;

export function openSocket(): LiveSocket {
  return io({
    path: `${basePath}${SOCKET_PATH}`,
    auth: { protocol: PROTOCOL },
    // A proxy that blocks the upgrade leaves long-polling, which works from the first request.
    transports: ['polling', 'websocket'],
    // Our own resume is by subscription and sequence number; messages of a lost connection are worth nothing.
    retries: 0,
    reconnectionDelay: 400,
    reconnectionDelayMax: 5_000,
    timeout: 8_000,
  });
}
