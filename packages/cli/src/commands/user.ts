/** Local users of a board: a file of names, roles and scrypt hashes. The board reads it again when it changes. */
import { LeaseholdError } from '@leasehold/core';
import {
  hashPassword,
  readUsers,
  requirePermissions,
  requireRole,
  ROLES,
  writeUsers,
  type User,
} from '@leasehold/gateway';
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { report, type CommonOptions } from '../command.js';
import { exitCodeOf } from '../exit.js';
import { makeOutput, type Output } from '../output.js';
import { readSecret } from '../secret-input.js';

interface UserFlags extends CommonOptions {
  readonly file?: string;
  readonly role?: string;
  readonly grant?: readonly string[];
  readonly queue?: readonly string[];
  readonly taskName?: readonly string[];
}

export function addUser(program: Command): void {
  const user = program
    .command('user')
    .description('local users of a board: a file, which the board reads again when it changes')
    .option('--file <path>', 'default: LEASEHOLD_USERS_FILE');
  shaped(user.command('add <name>').description('add a user; the password is asked for, or read from stdin')).action(
    (name: string, _flags: object, command: Command) => act(command, (users, flags) => add(users, name, flags)),
  );
  user
    .command('passwd <name>')
    .description('another password; whoever is signed in under the old one is signed out')
    .action((name: string, _flags: object, command: Command) => act(command, (users) => passwd(users, name)));
  shaped(user.command('set <name>').description('another role, other grants, another scope')).action(
    (name: string, _flags: object, command: Command) => act(command, (users, flags) => change(users, name, flags)),
  );
  user
    .command('rm <name>')
    .description('remove a user, who is signed out within seconds')
    .action((name: string, _flags: object, command: Command) => act(command, (users) => remove(users, name)));
  user
    .command('ls')
    .description('users with their roles; no hashes')
    .action((_flags: object, command: Command) => act(command, list));
}

function shaped(command: Command): Command {
  return command
    .option('--role <role>', `one of ${Object.keys(ROLES).join(', ')}; default viewer`)
    .option('--grant <permission...>', 'permissions beside those of the role, as payload.read')
    .option('--queue <name...>', 'only these queues exist for the user')
    .option('--task-name <name...>', 'only these task names exist for the user');
}

type Edit = (
  users: readonly User[],
  flags: UserFlags,
  out: Output,
) => Promise<readonly User[] | undefined> | readonly User[] | undefined;

async function act(command: Command, edit: Edit): Promise<void> {
  const flags = command.optsWithGlobals<UserFlags>();
  const out = makeOutput(flags.json === true, process.stdout, process.env);
  try {
    const file = flags.file ?? process.env['LEASEHOLD_USERS_FILE'];
    if (file === undefined) {
      throw new LeaseholdError('invalid', 'which file? give --file, or set LEASEHOLD_USERS_FILE', { field: 'file' });
    }
    const users = existsSync(file) ? await readUsers(file) : [];
    const next = await edit(users, flags, out);
    if (next !== undefined) await writeUsers(file, next);
  } catch (error) {
    report(error, out);
    process.exitCode = exitCodeOf(error);
  }
}

const password = (): Promise<string> => readSecret('Password', process.stdin, process.stderr);

async function add(users: readonly User[], name: string, flags: UserFlags): Promise<readonly User[]> {
  if (users.some((user) => user.name === name)) {
    throw new LeaseholdError('conflict', `there is a user ${name} already; see "leasehold user set"`, { name });
  }
  const shape = shapeOf({ name, role: 'viewer', password: '' }, flags);
  return [...users, { ...shape, password: await hashPassword(await password()) }];
}

function shapeOf(user: User, flags: UserFlags): User {
  const { role, grant, queue, taskName } = flags;
  const scope = {
    ...(queue === undefined ? {} : { queues: [...queue] }),
    ...(taskName === undefined ? {} : { taskNames: [...taskName] }),
  };
  return {
    ...user,
    ...(role === undefined ? {} : { role: requireRole(role, '--role') }),
    ...(grant === undefined ? {} : { grants: [...requirePermissions(grant, '--grant')] }),
    ...(Object.keys(scope).length === 0 ? {} : { scope }),
  };
}

function change(users: readonly User[], name: string, flags: UserFlags): readonly User[] {
  const user = known(users, name);
  return users.map((each) => (each === user ? shapeOf(user, flags) : each));
}

async function passwd(users: readonly User[], name: string): Promise<readonly User[]> {
  const user = known(users, name);
  const hash = await hashPassword(await password());
  return users.map((each) => (each === user ? { ...user, password: hash } : each));
}

function remove(users: readonly User[], name: string): readonly User[] {
  const user = known(users, name);
  return users.filter((each) => each !== user);
}

function known(users: readonly User[], name: string): User {
  const user = users.find((each) => each.name === name);
  if (user !== undefined) return user;
  throw new LeaseholdError('not-found', `there is no user ${name}`, { name });
}

function list(users: readonly User[], _flags: UserFlags, out: Output): undefined {
  const scopeText = ({ scope }: Pick<User, 'scope'>): string =>
    [...(scope?.queues ?? []), ...(scope?.taskNames ?? [])].join(' ');
  out.table(
    users.map(({ password: _hash, ...shown }) => shown),
    [
      { title: 'name', text: ({ name }) => name },
      { title: 'role', text: ({ role }) => role },
      { title: 'grants', text: ({ grants }) => (grants ?? []).join(' ') },
      { title: 'only', text: scopeText },
    ],
    'no users',
  );
}
