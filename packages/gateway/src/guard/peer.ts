/** Who is at the other end of a connection. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Credentials } from './identity.js';

export function peerOf(socket: Socket): Pick<Credentials, 'address' | 'certified'> {
  // Set by TLS when the peer's certificate was asked for and is good.
  const { authorized } = socket as Partial<Pick<TLSSocket, 'authorized'>>;
  return { address: socket.remoteAddress ?? '', ...(authorized === true ? { certified: true } : {}) };
}
