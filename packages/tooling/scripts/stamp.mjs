/** Answers "is what is installed what the lock file says?" without asking the package manager, which takes seconds. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const STAMP = 'node_modules/.leasehold-install';
const WORKSPACE_FOLDERS = ['packages', 'apps'];

/** The files that decide what gets installed, in a fixed order. */
export function installInputs(root) {
  const manifests = WORKSPACE_FOLDERS.flatMap((folder) =>
    entries(path.join(root, folder)).map((name) => path.join(folder, name, 'package.json')),
  );
  const all = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', '.npmrc', ...manifests.sort(byName)];
  return all.filter((file) => existsSync(path.join(root, file)));
}

function byName(a, b) {
  return a < b ? -1 : 1;
}

function entries(directory) {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Node's ABI and the platform count too: a folder that was copied from another machine holds the wrong binaries. */
export function installHash(root, runtime = `${process.platform}-${process.arch}-${process.versions.modules}`) {
  const hash = createHash('sha256').update(runtime);
  for (const file of installInputs(root)) {
    hash.update(`\0${file}\0`).update(readFileSync(path.join(root, file)));
  }
  return hash.digest('hex');
}

export function isInstalled(root) {
  if (!existsSync(path.join(root, 'node_modules/.modules.yaml'))) return false;
  const stamp = path.join(root, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8').trim() === installHash(root);
}

export function markInstalled(root) {
  writeFileSync(path.join(root, STAMP), `${installHash(root)}\n`);
}
