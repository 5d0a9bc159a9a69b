/** Roles are names for sets of permissions; nothing but permissions is ever asked for. */
import { LeaseholdError, type AccessScope } from '@leasehold/core/model';
import { isPermission, PERMISSIONS, type Permission } from '../guard/identity.js';

const VIEWER: readonly Permission[] = ['board.read', 'cluster.read'];

/** `viewer` sees no payloads; they are granted apart. */
export const ROLES = {
  viewer: VIEWER,
  auditor: [...VIEWER, 'audit.read'],
  operator: [
    ...VIEWER,
    'payload.read',
    'task.submit',
    'task.retry',
    'task.cancel',
    'task.reschedule',
    'workflow.submit',
    'workflow.cancel',
    'workflow.retry',
    'queue.pause',
    'bulk.run',
    'template.write',
    'schedule.write',
  ],
  admin: PERMISSIONS,
} as const satisfies Record<string, readonly Permission[]>;
export type Role = keyof typeof ROLES;

export function isRole(text: unknown): text is Role {
  return typeof text === 'string' && Object.hasOwn(ROLES, text);
}

/** What a role gives, and what is granted beside it. */
export function permissionsOf(role: Role, grants: readonly Permission[] = []): ReadonlySet<Permission> {
  return new Set([...ROLES[role], ...grants]);
}

/** @throws LeaseholdError `invalid`, naming the field. */
export function requireRole(text: unknown, field: string): Role {
  if (isRole(text)) return text;
  throw new LeaseholdError('invalid', `${field}: give one of ${Object.keys(ROLES).join(', ')}`, { field });
}

/** @throws LeaseholdError `invalid`, naming the permission that is none. */
export function requirePermissions(texts: readonly string[], field: string): readonly Permission[] {
  const known = texts.filter(isPermission);
  if (known.length === texts.length) return [...new Set(known)];
  const unknown = texts.find((text) => !isPermission(text)) ?? '';
  throw new LeaseholdError('invalid', `${field}: "${unknown.slice(0, 60)}" is no permission`, { field });
}

/** The first thing that one has and the other has not; undefined when all of it is covered. */
export function uncovered(
  wanted: readonly Permission[],
  held: { readonly permissions: ReadonlySet<Permission> },
): Permission | undefined {
  return wanted.find((permission) => !held.permissions.has(permission));
}

/** True when the inner scope lets through nothing that the outer one does not. */
export function scopeWithin(inner: AccessScope | undefined, outer: AccessScope | undefined): boolean {
  const within = (part: readonly string[] | undefined, whole: readonly string[] | undefined): boolean =>
    whole === undefined || (part !== undefined && part.every((each) => whole.includes(each)));
  return within(inner?.queues, outer?.queues) && within(inner?.taskNames, outer?.taskNames);
}
