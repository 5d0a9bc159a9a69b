import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installHash, installInputs, isInstalled, markInstalled } from '../scripts/stamp.mjs';

let root: string;
const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'leasehold-stamp-'));
  write('package.json', '{}');
  write('pnpm-lock.yaml', 'lockfileVersion: 9');
  write('pnpm-workspace.yaml', 'packages: []');
  write('packages/a/package.json', '{"name":"a"}');
  write('packages/a/src/index.ts', '');
  write('apps/b/package.json', '{"name":"b"}');
});
afterEach(() => rmSync(root, { recursive: true }));

describe('the stamp of an installation', () => {
  it('depends on the lock file and on every manifest of the workspace', () => {
    expect(installInputs(root)).toEqual([
      'pnpm-lock.yaml',
      'pnpm-workspace.yaml',
      'package.json',
      'apps/b/package.json',
      'packages/a/package.json',
    ]);
  });

  it('holds until one of them changes', () => {
    expect(isInstalled(root)).toBe(false);
    write('node_modules/.modules.yaml', '');
    markInstalled(root);
    expect(isInstalled(root)).toBe(true);
    write('packages/a/src/index.ts', 'changed');
    expect(isInstalled(root)).toBe(true);
    write('packages/a/package.json', '{"name":"a","version":"2.0.0"}');
    expect(isInstalled(root)).toBe(false);
  });

  it('does not hold without what was installed, nor on another platform', () => {
    write('node_modules/.modules.yaml', '');
    markInstalled(root);
    rmSync(path.join(root, 'node_modules/.modules.yaml'));
    expect(isInstalled(root)).toBe(false);
    expect(installHash(root, 'linux-x64-115')).not.toBe(installHash(root, 'darwin-arm64-115'));
  });
});
