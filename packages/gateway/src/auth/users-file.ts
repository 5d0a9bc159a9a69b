/**
 * Local users: a JSON file that `leasehold user` writes and the board reads again whenever it changes, so that a role that
 * is taken away or a user who is removed is so within seconds, without a restart.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { LeaseholdError } from '@leasehold/core/model';
import { z } from 'zod';
import { PERMISSIONS } from '../guard/identity.js';
import { isPasswordHash } from './password.js';
import { ROLES, type Role } from './roles.js';

const UserName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/, 'letters, digits, . _ @ - only, at most 100');
const names = z.array(z.string().min(1).max(600)).max(200);

const User = z.strictObject({
  name: UserName,
  role: z.enum(Object.keys(ROLES) as [Role, ...Role[]]),
  /** Permissions beside those of the role. */
  grants: z.array(z.enum(PERMISSIONS)).max(PERMISSIONS.length).exactOptional(),
  scope: z.strictObject({ queues: names.exactOptional(), taskNames: names.exactOptional() }).exactOptional(),
  password: z.string().refine(isPasswordHash, 'not a scrypt hash; set it with "leasehold user passwd"'),
});
export type User = z.infer<typeof User>;

const UsersFile = z.strictObject({ users: z.array(User).max(10_000) });

/** Changes when the password does: sessions that were opened with another one are over. */
export function stampOf(user: User): string {
  return createHash('sha256').update(user.password).digest('hex').slice(0, 16);
}

/** @throws LeaseholdError `unreadable`, naming what is wrong, never quoting what the file holds. */
export async function readUsers(file: string): Promise<readonly User[]> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'it is not JSON';
    throw new LeaseholdError('unreadable', `users file ${file}: ${why}; "leasehold user add" makes one`, { file });
  }
  const read = UsersFile.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = issue?.path.map(String).join('.') ?? '';
    throw new LeaseholdError('unreadable', `users file ${file}: ${at}: ${issue?.message ?? 'not understood'}`, {
      file,
    });
  }
  const { users } = read.data;
  const twice = users.find(({ name }, index) => users.findIndex((other) => other.name === name) !== index);
  if (twice === undefined) return users;
  throw new LeaseholdError('unreadable', `users file ${file}: ${twice.name} is in it twice`, { file });
}

/** Whole or not at all: a reader never sees half of it. Nobody but its owner can read it. */
export async function writeUsers(file: string, users: readonly User[]): Promise<void> {
  const next = `${file}.${process.pid}.new`;
  const checked = UsersFile.parse({ users });
  await writeFile(next, `${JSON.stringify(checked, null, 2)}\n`, { mode: 0o600 });
  await rename(next, file);
}

/** The file as it is now. What cannot be read lets nobody in. */
export class Users {
  readonly file: string;
  #version = '';
  #byName: ReadonlyMap<string, User> = new Map();

  constructor(file: string) {
    this.file = file;
  }

  async find(name: string): Promise<User | undefined> {
    const { mtimeMs, size, ino } = await stat(this.file).catch((error: unknown) => {
      throw new LeaseholdError('unavailable', `the users file cannot be read`, { cause: String(error).slice(0, 100) });
    });
    const version = `${mtimeMs} ${size} ${ino}`;
    if (version !== this.#version) {
      const users = await readUsers(this.file);
      this.#byName = new Map(users.map((user) => [user.name, user]));
      this.#version = version;
    }
    return this.#byName.get(name);
  }
}
