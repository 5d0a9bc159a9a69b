/** Runs the program of one package, from a fresh checkout: `run.mjs bench [arguments]` is packages/bench/dist/main.js. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { bootstrap, turbo } from './bootstrap.mjs';
import { environment, Failure, main, progress, root } from './lib.mjs';

main(async () => {
  const [name = '', ...args] = process.argv.slice(2);
  const program = path.join(root, 'packages', name, 'dist/main.js');
  if (!existsSync(path.join(root, 'packages', name, 'package.json'))) throw new Failure(`no package named '${name}'`);
  await bootstrap();
  progress(`building ${name}`);
  await turbo(['build', `--filter=@leasehold/${name}`]);
  if (!existsSync(program)) throw new Failure(`${program} was not built`);
  // Same process group: a terminal's Ctrl-C reaches it directly, so we only have to outlive it.
  process.on('SIGINT', () => undefined);
  const child = spawn(process.execPath, [program, ...args], { cwd: root, env: environment(), stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const code = await new Promise((resolve) => child.once('exit', (exit) => resolve(exit ?? 1)));
  process.exit(code);
});
