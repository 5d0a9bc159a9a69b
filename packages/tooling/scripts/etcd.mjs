/** Sees to it that an etcd is there before tests or servers want one, so that the download shows as a phase of its own. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { turbo } from './bootstrap.mjs';
import { capture, Failure, progress, root } from './lib.mjs';

/** Gives the path of the binary. `prefer` as in etcd-local. */
export async function ensureEtcd(prefer) {
  const program = path.join(root, 'packages/etcd-local/dist/main.js');
  if (!existsSync(program)) await turbo(['build', '--filter=@leasehold/etcd-local']);
  const args = [program, '--print-binary', ...(prefer === undefined ? [] : ['--prefer', prefer])];
  const { code, output } = await capture(process.execPath, args, {
    onOutput: (text) => {
      for (const line of text.split('\n')) if (/^(looking|downloading|taking)/.test(line)) progress(line);
    },
  });
  if (code !== 0) throw new Failure(output.trim());
  return output.trim().split('\n').at(-1);
}
