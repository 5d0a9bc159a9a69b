/** Who acts and what he may do. The gateway asks for a permission on every route and every socket; deny by default. */
import type { Actor } from '@leasehold/core/model';

export const PERMISSIONS = [
  'board.read',
  'payload.read',
  'task.submit',
  'task.retry',
  'task.cancel',
  'task.reschedule',
  'task.delete',
  'bulk.run',
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
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Permissions that change nothing; all others are refused while the gateway is read-only. */
export const READING: ReadonlySet<Permission> = new Set(['board.read', 'payload.read', 'cluster.read', 'audit.read']);

export interface Identity {
  readonly actor: Actor;
  readonly permissions: ReadonlySet<Permission>;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly address: string;
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
