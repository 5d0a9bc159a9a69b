#!/usr/bin/env node
/** `leasehold`: a scheduler's operations from a shell. It runs no tasks itself. */
import { Command } from 'commander';
import { addDoctor } from './commands/doctor.js';
import { addEpoch } from './commands/epoch.js';
import { addLimits } from './commands/limits.js';
import { addNodes } from './commands/nodes.js';
import { addQueues } from './commands/queues.js';
import { addSubmit } from './commands/submit.js';
import { addTasks } from './commands/tasks.js';
import { addEtcdUser } from './commands/etcd-user.js';
import { addUser } from './commands/user.js';
import { addUp } from './commands/up.js';
import { addVerify } from './commands/verify.js';
import { addWatch } from './commands/watch.js';
import { addWhy } from './commands/why.js';
import { EXIT } from './exit.js';

const program = new Command('leasehold')
  .description('A distributed task scheduler on etcd')
  .version('0.1.0')
  .option('--etcd <endpoints>', 'default: LEASEHOLD_ETCD_ENDPOINTS, else what runs in this folder, else 127.0.0.1:2379')
  .option('--namespace <name>', 'default: LEASEHOLD_NAMESPACE, else "default"')
  .option('--json', 'one JSON value a line; errors as JSON on stderr')
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 bad usage, 3 not found, 4 refused, 5 etcd or a result did not answer in time',
  )
  .showHelpAfterError('(leasehold --help lists the commands)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage));

for (const add of [
  addUp,
  addSubmit,
  addTasks,
  addQueues,
  addLimits,
  addNodes,
  addWatch,
  addWhy,
  addDoctor,
  addVerify,
  addUser,
  addEtcdUser,
])
  add(program);
addEpoch(program);

// A reader that has seen enough (`leasehold ls | head`) closes the pipe; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

await program.parseAsync();
