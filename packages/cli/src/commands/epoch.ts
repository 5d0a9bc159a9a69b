import { connect } from '@leasehold/core';
import { listNamespaces, raiseEpoch, readEpoch } from '@leasehold/core/store';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';

interface RaiseFlags extends CommonOptions {
  readonly allNamespaces?: boolean;
  readonly reason?: string;
}

export function addEpoch(program: Command): void {
  const epoch = program
    .command('epoch')
    .description('which history of etcd this is; to be raised after a restore from a snapshot')
    .action((_flags: object, command: Command) => run(command.optsWithGlobals<CommonOptions>(), showEpoch));
  epoch
    .command('raise')
    .description('after a restore, before workers are let in: nothing that was begun before it is written any more')
    .option('--all-namespaces', 'in every namespace of this etcd')
    .option('--reason <text>', 'is recorded and shown')
    .action((_flags: object, command: Command) => {
      const flags = command.optsWithGlobals<RaiseFlags>();
      return run(flags, (session) => raise(session, flags));
    });
}

async function showEpoch({ client, place, out }: Session): Promise<void> {
  const epoch = String(await readEpoch(client.store));
  const text = epoch === '0' ? 'this etcd was never restored, as far as Leasehold knows' : epoch;
  out.show({ namespace: place.namespace, epoch }, text);
}

async function raise({ client, kv, place, out }: Session, flags: RaiseFlags): Promise<void> {
  const namespaces = flags.allNamespaces === true ? await listNamespaces(kv) : [place.namespace];
  for (const namespace of namespaces) {
    const there = connect({ kv, namespace, name: client.actor.name });
    try {
      const { epoch, revision } = await raiseEpoch(there.store, there.call(flags.reason ?? 'etcd was restored'));
      const value = { namespace, epoch: String(epoch), revision: String(revision) };
      out.show(value, `${namespace}: epoch ${epoch} since revision ${revision}`);
    } finally {
      there.store.committer.close();
    }
  }
}
