import { access, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseDeb822, parseListFormat, type AptSource } from './apt-sources.js';

/** What we must know of a Debian-like machine to fetch its packages. */
export interface DebianMachine {
  readonly id: string;
  readonly codename: string;
  readonly sources: readonly AptSource[];
  /** The distribution's own keyring, if it is where distributions put it. */
  readonly keyring: string | undefined;
}

/** Reads the machine, below `root` (tests give another one). Undefined where there is no Debian-like system. */
export async function readDebianMachine(root = '/'): Promise<DebianMachine | undefined> {
  const release = await readText(path.join(root, 'etc/os-release'));
  const id = releaseField(release, 'ID');
  const like = `${id} ${releaseField(release, 'ID_LIKE')}`.split(' ');
  if (!like.includes('debian') && !like.includes('ubuntu')) return undefined;
  return {
    id,
    codename: releaseField(release, 'VERSION_CODENAME'),
    sources: await readSources(root),
    keyring: await findKeyring(root, id),
  };
}

function releaseField(release: string, name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, 'm').exec(release)?.[1] ?? '';
  return value.trim().replace(/^"(.*)"$/, '$1');
}

async function readSources(root: string): Promise<AptSource[]> {
  const parts = path.join(root, 'etc/apt/sources.list.d');
  const names = await readdir(parts).catch(() => []);
  const main = parseListFormat(await readText(path.join(root, 'etc/apt/sources.list')));
  const rest = await Promise.all(
    names.toSorted(byName).map(async (name) => {
      // apt itself ignores every other ending, and that is how owners switch a source off.
      if (name.endsWith('.list')) return parseListFormat(await readText(path.join(parts, name)));
      if (name.endsWith('.sources')) return parseDeb822(await readText(path.join(parts, name)));
      return [];
    }),
  );
  return [...main, ...rest.flat()];
}

async function findKeyring(root: string, id: string): Promise<string | undefined> {
  const directory = path.join(root, 'usr/share/keyrings');
  const names = [`${id}-archive-keyring`, 'debian-archive-keyring', 'ubuntu-archive-keyring'];
  const files = names.flatMap((name) => [`${name}.pgp`, `${name}.gpg`]);
  for (const file of files) {
    const full = path.join(directory, file);
    if (await exists(full)) return full;
  }
  return undefined;
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** As apt orders them. */
function byName(a: string, b: string): number {
  return a < b ? -1 : 1;
}
