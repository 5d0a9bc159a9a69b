import type { Command } from 'commander';
import { runUp } from '../up/command.js';

interface UpFlags {
  readonly home?: string;
  readonly namespace?: string;
  readonly members?: string;
  readonly port?: string;
  readonly workers: boolean;
  readonly dashboard: boolean;
}

export function addUp(program: Command): void {
  program
    .command('up')
    .description('etcd, the example workers and the board on this machine, until Ctrl-C')
    .option('--port <n>', 'of the board; default is PORT, else the first free one from 7117 on')
    .option('--members <1|3>', 'of etcd')
    .option('--home <dir>', 'where data and logs are kept; default is .leasehold here')
    .option('--no-workers')
    .option('--no-dashboard')
    .action(async (_flags: object, command: Command) => process.exit(await runUp(command.optsWithGlobals<UpFlags>())));
}
