/** Users of etcd itself: a board and a worker each get what they need, and no more. */
import { LeaseholdError } from '@leasehold/core';
import { CLUSTER_ROOT, KEY_KINDS, Keys } from '@leasehold/core/model';
import { createEtcdUser, ETCD_ROLES, etcdFromEnvironment, grantsOf, type EtcdRole } from '@leasehold/core/kv';
import type { Command } from 'commander';
import { report, type CommonOptions } from '../command.js';
import { exitCodeOf } from '../exit.js';
import { makeOutput } from '../output.js';
import { findPlace } from '../place.js';
import { readSecret } from '../secret-input.js';

export function addEtcdUser(program: Command): void {
  program
    .command('etcd-user <kind> [name]')
    .description('make an etcd user and role with the least rights for a board or a worker of this namespace')
    .addHelpText(
      'after',
      `\nkind: ${ETCD_ROLES.join(' or ')}. Run it as etcd's administrator (LEASEHOLD_ETCD_USER=root); the new user's password is asked\nfor, or read from stdin. etcd asks for passwords after: etcdctl auth enable`,
    )
    .action((kind: string, name: string | undefined, _flags: object, command: Command) => act(command, kind, name));
}

async function act(command: Command, kind: string, given: string | undefined): Promise<void> {
  const flags = command.optsWithGlobals<CommonOptions>();
  const out = makeOutput(flags.json === true, process.stdout, process.env);
  try {
    const role = ETCD_ROLES.find((each) => each === kind);
    if (role === undefined) {
      throw new LeaseholdError('invalid', `kind: give one of ${ETCD_ROLES.join(', ')}`, { field: 'kind' });
    }
    const place = findPlace(flags, process.env, process.cwd());
    const roleName = `leasehold-${role}-${place.namespace}`;
    const name = given ?? roleName;
    const password = await readSecret(`Password of ${name}`, process.stdin, process.stderr);
    if (password.length < 10) {
      throw new LeaseholdError('invalid', 'password: give 10 characters or more', { field: 'password' });
    }
    const grants = etcdGrants(role, place.namespace);
    const options = { endpoints: place.endpoints, ...etcdFromEnvironment(process.env) };
    await createEtcdUser(options, { name, password, role: roleName, grants });
    process.stderr.write(`etcd user ${name} has the role ${roleName}: ${grants.length} ranges of keys\n`);
  } catch (error) {
    report(error, out);
    process.exitCode = exitCodeOf(error);
  }
}

function etcdGrants(role: EtcdRole, namespace: string): ReturnType<typeof grantsOf> {
  return grantsOf(role, { prefix: new Keys(namespace).prefix, kinds: KEY_KINDS, clusterRoot: CLUSTER_ROOT });
}
