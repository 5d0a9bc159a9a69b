import { EtcdLocalError } from './errors.js';
import type { Note } from './note.js';
import { freePorts, isFree, type MemberPorts } from './ports.js';

/**
 * The caller's ports, else those that the data directory had before, else free ones. Members of a cluster know each other by peer address, so for
 * three members a taken peer port is a refusal; a single member needs nobody and may move.
 */
export async function choosePorts(
  count: number,
  given: readonly MemberPorts[] | undefined,
  note: Note | undefined,
): Promise<readonly MemberPorts[]> {
  if (given !== undefined) return given;
  const known = note?.members.map(({ ports }) => ports) ?? [];
  const taken = known.flatMap(({ client, peer }) => [client, peer]);
  const fresh = await freePorts(count * 2, taken);
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const before = known[index];
      const client = fresh[index * 2] ?? 0;
      const peer = fresh[index * 2 + 1] ?? 0;
      if (before === undefined) return { client, peer };
      const keepsPeer = await isFree(before.peer);
      if (!keepsPeer && count > 1) {
        const message = `port ${before.peer}, by which member m${index + 1} is known to the others, is taken by another process`;
        throw new EtcdLocalError('ETCD_START_FAILED', message);
      }
      return { client: (await isFree(before.client)) ? before.client : client, peer: keepsPeer ? before.peer : peer };
    }),
  );
}
