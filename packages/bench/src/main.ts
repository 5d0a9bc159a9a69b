#!/usr/bin/env node
/** `npm run bench -- <name>... [--json] [--quick]` */
import { parseArgs } from 'node:util';
import type { Bench } from './bench.js';
import { board } from './board.js';
import { bulk } from './bulk.js';
import { ceiling } from './ceiling.js';
import { cluster } from './cluster.js';
import { cost } from './cost.js';
import { due, dueMany } from './due.js';
import { table } from './figures.js';
import { latency } from './latency.js';
import { limits } from './limits.js';
import { recovery } from './recovery.js';
import { scale } from './scale.js';
import { throughput } from './throughput.js';
import { chains, groups } from './workflows.js';

const BENCHES: readonly Bench[] = [
  ceiling,
  throughput,
  cost,
  latency,
  chains,
  groups,
  due,
  dueMany,
  recovery,
  limits,
  bulk,
  board,
  scale,
  cluster,
];

const USAGE = `npm run bench -- <name>... [--json] [--quick]

${BENCHES.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}
  all         all of them

  --json      one JSON object a line
  --quick     smaller, one round: shows that it runs; not for quoting
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
  });
  const wanted = positionals.includes('all') ? BENCHES.map(({ name }) => name) : positionals;
  const unknown = wanted.filter((name) => !BENCHES.some((bench) => bench.name === name));
  if (wanted.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) process.stderr.write(`no benchmark named ${unknown.join(', ')}\n\n`);
    process.stderr.write(USAGE);
    return 2;
  }
  const began = performance.now();
  const progress = (message: string): void => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(7);
    process.stderr.write(`[${seconds} s] ${message}\n`);
  };
  for (const bench of BENCHES.filter(({ name }) => wanted.includes(name))) {
    const figures = await bench.run({ quick: values.quick, progress });
    const text = values.json
      ? figures.map((figure) => `${JSON.stringify(figure)}\n`).join('')
      : `\n${table(figures)}\n`;
    process.stdout.write(text);
  }
  return 0;
}

process.exitCode = await main();
