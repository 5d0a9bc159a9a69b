/**
 * Random nested workflows, random failures, lost replies and crashes of the driver: whatever happens, every workflow
 * ends, nothing runs twice with effect, callbacks run once, results come in order, and nothing is left over.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryStore, type Fate } from '../../src/kv/index.js';
import { isEnded, isWorkflowEnded } from '../../src/model/state.js';
import type { FailurePolicy, TypedValue, Workflow } from '../../src/model/signature.js';
import { compileWorkflow, countTasks, exitTasks } from '../../src/model/workflow.js';
import { advance } from '../../src/store/drive.js';
import { submitWorkflow } from '../../src/store/submit.js';
import { retryWorkflow } from '../../src/store/operate.js';
import {
  CLIENT,
  LEADER,
  call,
  dump,
  int,
  makeStore,
  openHolder,
  readTask,
  readWorkflowRecord,
  task,
  workAll,
} from './plain-worker.js';

const policy = fc.constantFrom<FailurePolicy>('stop', 'wait-all', 'ignore');
const leaf = fc
  .record({ good: fc.boolean(), good2: fc.boolean(), immutable: fc.boolean() })
  .map(({ good, good2, immutable }) => task(good || good2 ? 'good' : 'bad', [], immutable ? { immutable } : {}));

const { workflow } = fc.letrec<{ workflow: Workflow }>((tie) => ({
  workflow: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      kind: fc.constant('chain' as const),
      steps: fc.array(tie('workflow'), { minLength: 1, maxLength: 4 }),
      onFailure: policy,
    }),
    fc.record({
      kind: fc.constant('group' as const),
      members: fc.array(tie('workflow'), { maxLength: 4 }),
      onFailure: policy,
    }),
    fc.record({
      kind: fc.constant('chord' as const),
      header: fc.array(tie('workflow'), { maxLength: 4 }),
      callback: tie('workflow'),
      onFailure: policy,
    }),
    fc.record({
      kind: fc.constant('chain' as const),
      steps: fc.array(tie('workflow'), { minLength: 1, maxLength: 3 }),
      onFailure: policy,
      onError: fc.constant(task('tell')),
    }),
  ),
}));

/** A network that loses requests and answers, by a seeded sequence. */
function flaky(seed: number, share: number): () => Fate {
  let x = seed | 1;
  return () => {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    const draw = (x >>> 8) / 2 ** 24;
    if (draw < share) return 'drop-after';
    if (draw < share * 2) return 'drop-before';
    return 'pass';
  };
}

const runs = process.env['LEASEHOLD_FULL'] === '1' ? 2_000 : 200;

describe('any workflow', () => {
  it('ends, once, in order, and leaves nothing behind; a retry of a failed one succeeds when all is mended', async () => {
    await fc.assert(
      fc.asyncProperty(
        workflow,
        fc.nat(),
        fc.nat(1000),
        fc.constantFrom(0, 0.05, 0.2),
        async (source, seed, order, share) => {
          const clock = { nowMs: 1_700_000_000_000 };
          const memory = new MemoryStore({ now: () => clock.nowMs });
          const next = flaky(seed, share);
          // Reads are not retried by the store; only transactions through the committer are, so only writes get lost.
          const intercept = (c: { method: string; request?: unknown }): Fate =>
            c.method === 'txn' &&
            JSON.stringify(c.request, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v)).includes('"put"')
              ? next()
              : 'pass';
          const store = makeStore(memory.connect({ intercept }), clock, { giveUpMs: Number.POSITIVE_INFINITY });
          const holder = await openHolder(makeStore(memory.connect(), clock), 'n1', 1_000_000);
          let mended = false;
          const succeeded = new Map<string, number>();
          const seen = new Map<string, readonly TypedValue[]>();
          const handler = (
            args: readonly TypedValue[],
            { id, name }: { id: string; name: string },
          ): readonly TypedValue[] => {
            if (name === 'bad' && !mended) throw new Error('bad');
            succeeded.set(id, (succeeded.get(id) ?? 0) + 1);
            seen.set(id, args);
            return name === 'tell' ? [] : [int(Number(id.slice(-5)))];
          };
          const { id } = await submitWorkflow(store, CLIENT, source, { id: 'wf' });
          if (source.kind === 'task') return;
          await advance(store, CLIENT, id);
          await workAll(store, clock, holder, handler, (ready) => order % Math.max(1, ready));
          const first = await readWorkflowRecord(store, id);
          expect(isWorkflowEnded(first.state)).toBe(true);
          if (first.state === 'FAILURE') {
            mended = true;
            const { drive } = await retryWorkflow(store, call('mended'), id);
            await advance(store, LEADER, drive ?? id);
            await workAll(store, clock, holder, handler);
            expect((await readWorkflowRecord(store, id)).state).toBe('SUCCESS');
          }
          const graph = compileWorkflow(id, source);
          for (const member of graph.tasks) {
            const record = await readTask(store, member.id);
            expect(isEnded(record.state)).toBe(true);
            if (record.state !== 'SUCCESS') continue;
            expect(succeeded.get(member.id)).toBe(1);
            const inputs = member.inputs === undefined ? [] : exitTasks(graph, member.inputs);
            const got = (seen.get(member.id) ?? []).map((arg) => Number(arg.value));
            // What succeeded later by a retry under `ignore` came too late for its consumer; order still holds.
            expect(got).toEqual(inputs.filter((index) => got.includes(index)));
          }
          expect(graph.tasks).toHaveLength(countTasks(source));
          for (const kind of ['ready', 'due', 'locks', 'barriers', 'joins', 'chores', 'staged'] as const) {
            expect([kind, [...(await dump(store, kind)).keys()]]).toEqual([kind, []]);
          }
        },
      ),
      { numRuns: runs },
    );
  }, 600_000);
});
