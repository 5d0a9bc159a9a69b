import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { distributionSources, parseDeb822, parseListFormat, sourceLine } from '../src/apt-sources.js';
import { debianCandidates } from '../src/debian.js';
import { readDebianMachine } from '../src/machine.js';

const LIST = `
# deb http://commented.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib # a comment
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/own.gpg trusted=yes] https://inner.example/debian bookworm main
deb http://mirror.example/debian-security bookworm-security main
`;

const DEB822 = `Types: deb deb-src
# which snapshot this image was made from
URIs: http://one.example/debian
 http://two.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
Check-Valid-Until: no

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb
URIs: http://third.example/node
Suites: nodistro
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBFdDN1ABEADaNd
 -----END PGP PUBLIC KEY BLOCK-----
`;

describe('the one-line format', () => {
  it('gives binary sources, without comments and source packages', () => {
    const sources = parseListFormat(LIST);
    expect(sources.map(({ uri, suite }) => `${uri} ${suite}`)).toEqual([
      'http://mirror.example/debian bookworm',
      'https://inner.example/debian bookworm',
      'http://mirror.example/debian-security bookworm-security',
    ]);
    expect(sources[0]?.components).toEqual(['main', 'contrib']);
  });

  it('keeps the keyring and the options without which the mirror is unusable', () => {
    const [, inner] = parseListFormat(LIST);
    expect(inner).toMatchObject({ signedBy: '/usr/share/keyrings/own.gpg', keep: { trusted: 'yes' } });
  });
});

describe('the deb822 format', () => {
  it('gives one source for each URI and suite, and none that is switched off', () => {
    expect(parseDeb822(DEB822).map(({ uri, suite }) => `${uri} ${suite}`)).toEqual([
      'http://one.example/debian bookworm',
      'http://one.example/debian bookworm-updates',
      'http://two.example/debian bookworm',
      'http://two.example/debian bookworm-updates',
      'http://third.example/node nodistro',
    ]);
  });

  it('keeps a keyring file and drops a key written into the file', () => {
    const sources = parseDeb822(DEB822);
    expect(sources[0]).toMatchObject({
      signedBy: '/usr/share/keyrings/debian-archive-keyring.gpg',
      keep: { 'check-valid-until': 'no' },
    });
    expect(sources.at(-1)?.signedBy).toBeUndefined();
  });
});

describe('choosing a mirror', () => {
  it('takes the ones that carry the distribution and no other', () => {
    const sources = [...parseListFormat(LIST), ...parseDeb822(DEB822)];
    expect(distributionSources(sources, 'bookworm').map(({ uri }) => uri)).toEqual([
      'http://mirror.example/debian',
      'https://inner.example/debian',
      'http://one.example/debian',
      'http://two.example/debian',
    ]);
  });

  it('takes a mirror that is followed by `testing` when no source names the release', () => {
    const sources = parseListFormat('deb http://mirror.example/debian testing main');
    expect(distributionSources(sources, 'forky')).toHaveLength(1);
  });

  it('writes a line for another suite with the keyring and the kept options', () => {
    const [, inner] = parseListFormat(LIST);
    if (inner === undefined) throw new Error('the fixture has two');
    expect(sourceLine(inner, 'sid', ['main'], inner.signedBy)).toBe(
      'deb [signed-by=/usr/share/keyrings/own.gpg trusted=yes] https://inner.example/debian sid main\n',
    );
  });
});

describe('a Debian machine', () => {
  it('is read from its own files, ignoring those that apt ignores', async () => {
    const root = await fakeMachine('ID=debian\nVERSION_CODENAME=bookworm\n');
    const machine = await readDebianMachine(root);
    expect(machine?.codename).toBe('bookworm');
    expect(machine?.sources.map(({ uri }) => uri)).not.toContain('http://off.example/by-name');
    expect(machine?.keyring).toBe(path.join(root, 'usr/share/keyrings/debian-archive-keyring.gpg'));
    await rm(root, { recursive: true });
  });

  it('is asked for the newest suites first, and for its own first when 3.4 is wanted', async () => {
    const root = await fakeMachine('ID=debian\nVERSION_CODENAME="bookworm"\n');
    const machine = await readDebianMachine(root);
    if (machine === undefined) throw new Error('it is Debian');
    const suites = (prefer?: string): string[] => [
      ...new Set(debianCandidates(machine, prefer).map(({ suite }) => suite)),
    ];
    expect(suites()).toEqual(['sid', 'testing', 'trixie', 'bookworm']);
    expect(suites('3.4')[0]).toBe('bookworm');
    expect(suites('trixie')).toEqual(['trixie']);
    await rm(root, { recursive: true });
  });

  it('is not seen in another distribution', async () => {
    const root = await fakeMachine('ID=fedora\n');
    expect(await readDebianMachine(root)).toBeUndefined();
    await rm(root, { recursive: true });
  });
});

async function fakeMachine(release: string): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'leasehold-machine-'));
  await mkdir(path.join(root, 'etc/apt/sources.list.d'), { recursive: true });
  await mkdir(path.join(root, 'usr/share/keyrings'), { recursive: true });
  await writeFile(path.join(root, 'etc/os-release'), release);
  await writeFile(path.join(root, 'etc/apt/sources.list'), LIST);
  await writeFile(path.join(root, 'etc/apt/sources.list.d/debian.sources'), DEB822);
  await writeFile(
    path.join(root, 'etc/apt/sources.list.d/old.list.disabled'),
    'deb http://off.example/by-name bookworm main',
  );
  await writeFile(path.join(root, 'usr/share/keyrings/debian-archive-keyring.gpg'), '');
  return root;
}
