import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** All product sources, to look for what they read. */
function sources(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /node_modules|dist|\.next|test|e2e/.test(entry.name) ? [] : sources(file);
    return /\.(?:ts|tsx|mjs)$/.test(entry.name) ? [file] : [];
  });
}

describe('the files for containers', () => {
  const compose = read('docker-compose.yml');

  it('start programs that the build makes', () => {
    const programs = [...compose.matchAll(/command: \[([^\]]+\.js)\]/g)].map((match) => match[1] ?? '');
    expect(programs).toContain('apps/dashboard/dist/main.js');
    for (const program of programs) {
      const source = ['src', 'server'].map((folder) =>
        program.replace('/dist/', `/${folder}/`).replace(/\.js$/, '.ts'),
      );
      expect(
        source.some((file) => existsSync(path.join(ROOT, file))),
        program,
      ).toBe(true);
    }
  });

  it('set only variables that a program reads', () => {
    const names = new Set([...compose.matchAll(/^\s+(LEASEHOLD_[A-Z_]+):/gm)].map((match) => match[1] ?? ''));
    const text = [...sources('packages'), ...sources('apps')].map(read).join('\n');
    for (const name of names) expect(text, name).toContain(name);
  });

  it('publish ports on loopback only, as long as there is no login', () => {
    const published = [...compose.matchAll(/ports: \[([^\]]+)\]/g)].map((match) => match[1] ?? '');
    expect(published.length).toBeGreaterThan(0);
    for (const port of published) expect(port).toMatch(/^'127\.0\.0\.1:/);
  });

  it('no committed file names the host of a package registry', () => {
    for (const file of ['pnpm-lock.yaml', 'Dockerfile', 'docker-compose.yml', 'package.json', 'pnpm-workspace.yaml']) {
      expect(read(file), file).not.toMatch(/registry\.|deb\.debian\.org|npmjs|\.tgz/);
    }
  });
});
