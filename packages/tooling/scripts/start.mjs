/** `npm start`: from a fresh checkout to a running Leasehold. Arguments go to the program. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { bootstrap, turbo } from './bootstrap.mjs';
import { ensureEtcd } from './etcd.mjs';
import { environment, Failure, main, progress, root } from './lib.mjs';

const program = path.join(root, 'packages/cli/dist/up.js');

main(async () => {
  progress('checking dependencies');
  await bootstrap();
  progress('building what has changed');
  await turbo(['build']);
  progress('looking for etcd');
  await ensureEtcd();
  if (!existsSync(program)) throw new Failure(`${program} was not built`);
  progress('starting');
  process.exit(await runToEnd());
});

/**
 * The program runs in a process group of its own: a terminal sends Ctrl-C to the whole group, and it would then get two, of which the second
 * commonly means "now". So we forward one; a second Ctrl-C ends it the hard way.
 */
function runToEnd() {
  const child = spawn(process.execPath, [program, ...process.argv.slice(2)], {
    cwd: root,
    env: environment(),
    detached: true,
    stdio: 'inherit',
  });
  let asked = false;
  const forward = (signal) => {
    if (asked && signal === 'SIGINT') return child.kill('SIGKILL');
    if (!asked) child.kill(signal);
    asked = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => forward(signal));
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(1);
    });
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });
}
