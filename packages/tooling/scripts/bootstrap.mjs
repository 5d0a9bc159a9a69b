/** Brings a fresh checkout to where its tools can run: dependencies, and a `pnpm` that turbo can find. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture, environment, Failure, isProgram, main, must, progress, root } from './lib.mjs';
import { isInstalled, markInstalled } from './stamp.mjs';

/** The one place that names the version is package.json. */
const pnpmPackage = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).packageManager;

const shimDirectory = path.join(root, 'node_modules/.leasehold-bin');

export async function bootstrap() {
  if (isInstalled(root) && existsSync(path.join(shimDirectory, 'pnpm'))) return;
  progress(`installing dependencies with ${pnpmPackage}`);
  const command = await resolvePnpm();
  writeShim(command);
  // Without a terminal, pnpm would stop and ask before it replaces a node_modules of another layout.
  await must('installing dependencies', path.join(shimDirectory, 'pnpm'), [
    'install',
    '--frozen-lockfile',
    '--config.confirm-modules-purge=false',
  ]);
  // A purge takes the shim with it.
  writeShim(command);
  markInstalled(root);
}

/** The path of pnpm inside npm's cache: starting it directly saves half a second each time. */
async function resolvePnpm() {
  const args = ['--yes', '--package', pnpmPackage, '-c', 'command -v pnpm'];
  const { code, output } = await capture('npx', args, { env: environment({ npm_config_loglevel: 'error' }) });
  const file = output.trim().split('\n').at(-1) ?? '';
  if (code === 0 && existsSync(file)) return file;
  throw new Failure(
    `${output}\nCould not get ${pnpmPackage} through npx. It needs npm's registry, or a cache that holds it. ` +
      'Behind a mirror, set npm_config_registry.',
  );
}

/** turbo insists on a program named pnpm. The path leads into a cache, which may be emptied; then npx gets it again. */
function writeShim(command) {
  mkdirSync(shimDirectory, { recursive: true });
  const shim = path.join(shimDirectory, 'pnpm');
  const script = ['#!/bin/sh', `[ -x '${command}' ] && exec '${command}' "$@"`, `exec npx --yes ${pnpmPackage} "$@"`];
  writeFileSync(shim, `${script.join('\n')}\n`);
  chmodSync(shim, 0o755);
}

/** Runs a turbo task and fails with its output. A run in which nothing changed takes a fraction of a second, so we keep no stamp of our own. */
export function turbo(args, options) {
  const turboArgs = ['run', ...args, '--output-logs=errors-only', '--env-mode=loose'];
  return must(`turbo ${args.join(' ')}`, path.join(root, 'node_modules/.bin/turbo'), turboArgs, options);
}

if (isProgram(import.meta.url)) main(bootstrap);
