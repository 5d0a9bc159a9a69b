/** What each kind of process needs of etcd, and no more. Pure: etcd is told by whoever has the right to. */
import type { EtcdGrant } from './etcd-kv.js';
import { prefixEnd } from './kv.js';

export const ETCD_ROLES = ['dashboard', 'worker'] as const;
export type EtcdRole = (typeof ETCD_ROLES)[number];

/** Only the node itself writes them, and only the leader its office: a board reads them. */
const NOT_BY_A_BOARD: ReadonlySet<string> = new Set(['nodes', 'stats', 'leader', 'epoch']);
/** Who may come in to a board is no worker's business, not even to read. */
const NOT_BY_A_WORKER: ReadonlySet<string> = new Set(['tokens', 'sessions', 'views', 'templates']);
/** These are keys, not folders. */
const SINGLE: ReadonlySet<string> = new Set(['all', 'leader', 'epoch']);

/**
 * `prefix` is that of one namespace, `kinds` everything that can hang under it, `clusterRoot` what all namespaces share.
 */
export function grantsOf(
  role: EtcdRole,
  {
    prefix,
    kinds,
    clusterRoot,
  }: { readonly prefix: string; readonly kinds: readonly string[]; readonly clusterRoot: string },
): readonly EtcdGrant[] {
  const range = (key: string): Pick<EtcdGrant, 'key' | 'rangeEnd'> => ({ key, rangeEnd: prefixEnd(key) });
  const ofKind = (kind: string): Pick<EtcdGrant, 'key' | 'rangeEnd'> =>
    SINGLE.has(kind) ? { key: `${prefix}${kind}` } : range(`${prefix}${kind}/`);
  const barred = role === 'dashboard' ? NOT_BY_A_BOARD : NOT_BY_A_WORKER;
  const written = kinds
    .filter((kind) => !barred.has(kind))
    .map((kind): EtcdGrant => ({ ...ofKind(kind), permission: 'readwrite' }));
  return role === 'dashboard'
    ? [{ ...range(prefix), permission: 'read' }, { ...range(clusterRoot), permission: 'read' }, ...written]
    : [{ ...range(clusterRoot), permission: 'readwrite' }, ...written];
}
