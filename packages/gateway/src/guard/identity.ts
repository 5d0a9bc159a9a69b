/** Who acts and what he may do. The gateway asks for a permission on every route and every socket; deny by default. */
import type { AccessScope, Actor } from '@leasehold/core/model';

export const PERMISSIONS = [
  'board.read',
  'payload.read',
  'task.submit',
  'task.retry',
  'task.cancel',
  'task.reschedule',
  'task.delete',
  'bulk.run',
  'template.write',
  'workflow.submit',
  'workflow.cancel',
  'workflow.retry',
  'queue.pause',
  'queue.purge',
  'queue.limits',
  'lock.force-release',
  'node.drain',
  'schedule.write',
  'audit.read',
  'cluster.read',
  'secret.reveal',
  'token.manage',
  'session.revoke',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export function isPermission(text: string): text is Permission {
  return (PERMISSIONS as readonly string[]).includes(text);
}

/** Permissions that change nothing; all others are refused while the gateway is read-only. */
export const READING: ReadonlySet<Permission> = new Set([
  'board.read',
  'payload.read',
  'cluster.read',
  'audit.read',
  'secret.reveal',
]);

export interface Identity {
  readonly actor: Actor;
  readonly permissions: ReadonlySet<Permission>;
  /** Only these queues and task names exist for him. */
  readonly scope?: AccessScope;
  /** What let him in, without its secret: sockets of one credential are checked again together. */
  readonly credential?: string;
  /**
   * Set for a way in that a browser takes by itself (a cookie): what a change must carry when the browser does not say
   * where it comes from.
   */
  readonly csrfToken?: string;
  /** A way in that a browser takes by itself and that has no token: a change must say where it comes from. */
  readonly ambient?: true;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of the peer of the connection. */
  readonly address: string;
  /** The peer showed a client certificate that our authority signed. */
  readonly certified?: boolean;
}

export interface Auth {
  /** False for a way in that asks nobody: then only loopback addresses are served. */
  readonly required: boolean;
  /** Undefined: nobody it knows. */
  authenticate(credentials: Credentials): Promise<Identity | undefined> | Identity | undefined;
}

/** Whoever reaches a loopback address is the operator. */
export const localOperator: Auth = Object.freeze({
  required: false,
  authenticate: ({ address }: Credentials): Identity => ({
    actor: { kind: 'operator', name: 'local', role: 'admin', method: 'loopback', address },
    permissions: new Set(PERMISSIONS),
  }),
});
