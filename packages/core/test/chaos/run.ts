/**
 * `npm run chaos -- [--minutes N] [--seed S] [--workers N] [--rate N] [--ttl MS] [--faults a,b] [--no-operators] [--json]`: faults for so
 * long, and the verdict. Exit code 1 when anything was lost, done twice or broken.
 */
import { parseArgs } from 'node:util';
import { chaos, type ChaosReport } from './chaos.js';
import { FAULTS, type FaultName } from './faults.js';
import type { Spread } from './measures.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '3' },
    rate: { type: 'string', default: '6' },
    ttl: { type: 'string', default: '4000' },
    faults: { type: 'string' },
    'no-operators': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const faults = values.faults?.split(',').map((name) => name.trim());
const unknown = faults?.filter((name) => !(name in FAULTS)) ?? [];
if (unknown.length > 0) {
  process.stderr.write(`no such fault: ${unknown.join(', ')}. There are ${Object.keys(FAULTS).join(', ')}\n`);
  process.exit(2);
}
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const report = await chaos({
  // The seed is all that is needed to draw the same faults again; their effect also depends on the machine.
  seed: Number(values.seed ?? Math.floor(Date.now() / 1_000)),
  durationMs: Number(values.minutes) * 60_000,
  workers: Number(values.workers),
  rate: Number(values.rate),
  ttlMs: Number(values.ttl),
  operators: !values['no-operators'],
  ...(faults === undefined ? {} : { faults: faults as FaultName[] }),
  say,
});
process.stdout.write(
  values.json ? `${JSON.stringify(report, text)}\n` : `${lines(report, Number(values.ttl)).join('\n')}\n`,
);
process.exit(report.violations.length + report.problems.length === 0 ? 0 : 1);

function lines(report: ChaosReport, ttlMs: number): string[] {
  const { recovery, violations, problems } = report;
  return [
    `seed ${report.seed}, etcd ${report.etcd}, 3 members, ${values.workers} workers, lease ${ttlMs} ms, ${values.minutes} min`,
    `faults: ${Object.entries(report.faults)
      .map(([name, n]) => `${n} ${name}`)
      .join(', ')}`,
    `${report.acknowledged} submissions acknowledged, ${report.refused} refused, asked again after no answer ${report.ambiguous} times; ${report.acts} acts of operators`,
    `${report.runs} runs of handlers, ${report.revisions} revisions checked`,
    `a killed worker's tasks went on after, nothing else wrong: ${spreadText(recovery.alone)}`,
    `a killed worker's tasks went on after, amid other faults: ${spreadText(recovery.amidOthers)}`,
    `writes unanswered after the death of etcd's leader: ${spreadText(report.unavailability)}`,
    `everything had ended ${report.settledMs} ms after the last fault`,
    ...violations.map(({ invariant, revision, message }) => `VIOLATION of ${invariant} at ${revision}: ${message}`),
    ...problems.map((problem) => `PROBLEM ${problem}`),
    violations.length + problems.length === 0 ? 'nothing lost, nothing twice' : 'FAILED',
  ];
}

function spreadText({ count, p50Ms, p95Ms, maxMs }: Spread): string {
  return count === 0 ? 'not measured' : `p50 ${p50Ms} ms, p95 ${p95Ms} ms, at most ${maxMs} ms (${count})`;
}

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
