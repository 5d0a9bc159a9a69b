#!/usr/bin/env node
/** What `npm start` runs: a whole Leasehold on this machine, until Ctrl-C. */
import { parseArgs } from 'node:util';
import { runUp, UP_USAGE } from './up/command.js';

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    namespace: { type: 'string' },
    members: { type: 'string' },
    port: { type: 'string' },
    'no-workers': { type: 'boolean', default: false },
    'no-dashboard': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) process.stdout.write(UP_USAGE);
else {
  const { 'no-workers': noWorkers, 'no-dashboard': noDashboard, ...rest } = values;
  process.exit(await runUp({ ...rest, workers: !noWorkers, dashboard: !noDashboard }));
}
