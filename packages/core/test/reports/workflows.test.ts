/** Reports on workflows and their ends. */
import { afterEach, describe, expect, it } from 'vitest';
import { chain, chord, defineTask, group, handle, type Handling, type TaskContext } from '../../src/index.js';
import { memoryWorld } from '../machinery/world.js';

let world: ReturnType<typeof memoryWorld>;
let ran: string[];
afterEach(() => world.close());

function begin(): typeof world {
  ran = [];
  world = memoryWorld();
  return world;
}

function noting(
  name: string,
  run: (context: TaskContext, args: readonly unknown[]) => unknown = () => undefined,
): Handling {
  return handle(defineTask(name, { variadic: 'json' }), (args, context) => {
    ran.push(name);
    return run(context, args);
  });
}

const job = (name: string, more: object = {}) => ({ name, args: [], ...more });
const stopped = ({ signal }: TaskContext): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

describe('report E4', () => {
  it.each(['stop', 'wait-all', 'ignore'] as const)(
    'report E4: with several failing members under %s something always follows, and the error callback gets every failure',
    async (onFailure) => {
      begin();
      let told: unknown;
      await world.start({
        handlers: [
          noting('good'),
          noting('bad', ({ id }) => Promise.reject(new Error(`no ${id.slice(-1)}`))),
          noting('callback'),
          noting('tell', (_context, [failures]) => void (told = failures)),
        ],
        concurrency: 1,
      });
      const { id } = await world.client.submit(
        chord([job('bad'), job('good'), job('bad'), job('bad')], job('callback'), { onFailure, onError: job('tell') }),
      );
      const ended = await world.wait(world.client.waitWorkflow(id));
      await world.pass(1_000);
      expect(ended.state).toBe(onFailure === 'ignore' ? 'SUCCESS' : 'FAILURE');
      expect(ran.includes('callback')).toBe(onFailure === 'ignore');
      if (onFailure === 'wait-all') {
        expect(told).toMatchObject([0, 2, 3].map((n) => ({ name: 'bad', attempt: 1, error: `Error: no ${n}` })));
        expect(ran.filter((name) => name === 'good')).toHaveLength(1);
      }
      if (onFailure === 'stop')
        expect(told).toMatchObject([{ name: 'bad', error: expect.stringMatching('no') as unknown }]);
    },
  );
});

describe('report E25: whatever ends a child, its parent ends', () => {
  const ends: [string, (id: string) => Promise<unknown>][] = [
    ['cancelled by an operator', (id) => world.client.cancel(id, { reason: 'not wanted' })],
    ['force-cancelled while it runs', (id) => world.client.cancel(id, { force: true })],
    ['past its deadline', () => world.pass(61_000)],
  ];
  it.each(ends)('report E25: %s', async (_how, end) => {
    begin();
    const handlers = [noting('good'), noting('stuck', stopped), noting('after')];
    await world.start({ handlers });
    const deadlineMs = world.clock.now() + 60_000;
    const { id } = await world.client.submit(
      chain([group([job('good'), job('stuck', { deadlineMs })], { onFailure: 'wait-all' }), job('after')]),
    );
    await world.pass(500);
    await world.wait(end(`${id}.00001`));
    const ended = await world.wait(world.client.waitWorkflow(id));
    expect(ended.state).toBe('FAILURE');
    expect(ran).not.toContain('after');
    expect((await world.tasks()).map(({ state }) => state)).not.toContain('WAITING');
  });

  it('report E25: expired because nobody knows its name', async () => {
    begin();
    await world.start({ handlers: [noting('good')] });
    const expiresMs = world.clock.now() + 30_000;
    const { id } = await world.client.submit(chord([job('good'), job('unknown', { expiresMs })], job('good')));
    expect((await world.wait(world.client.waitWorkflow(id))).state).toBe('FAILURE');
  });

  it('report E25: a nested child ends all levels above it', async () => {
    begin();
    await world.start({ handlers: [noting('good'), noting('bad', () => Promise.reject(new Error('deep')))] });
    const deep = chain([group([chain([group([job('bad'), job('good')]), job('good')]), job('good')]), job('good')]);
    const { id } = await world.client.submit(chord([deep, job('good')], job('good')));
    const ended = await world.wait(world.client.waitWorkflow(id));
    expect(ended).toMatchObject({ state: 'FAILURE', failures: [{ name: 'bad', error: 'Error: deep' }] });
  });
});

describe('report E43', () => {
  it('report E43: after a timeout the retry is the only one that goes on; the first run, still going, moves nothing', async () => {
    begin();
    const runs: { attempt: number; aborted: boolean }[] = [];
    await world.start({
      graceMs: 100,
      handlers: [
        noting('step', async (context) => {
          const run = { attempt: context.attempt, aborted: false };
          runs.push(run);
          // Does not listen: it goes on for an hour, whatever it is told.
          context.signal.addEventListener('abort', () => (run.aborted = true));
          if (context.attempt === 1) await world.sleep(3_600_000);
          return String(context.attempt);
        }),
        noting('next', (_context, args) => args[0]),
      ],
    });
    const timed = job('step', { timeoutMs: 1_000, retry: { count: 1, backoff: 'fixed', delayMs: 10 } });
    const submitted = await world.client.submit(chain([timed, { name: 'next', args: [], immutable: true }]));
    const [value] = await world.wait(world.client.waitWorkflow(submitted.id)).then(() => [ran.slice()]);
    await world.pass(3_700_000);
    expect(value).toEqual(['step', 'step', 'next']);
    expect(ran).toEqual(['step', 'step', 'next']);
    expect(runs).toEqual([
      { attempt: 1, aborted: true },
      { attempt: 2, aborted: false },
    ]);
  });
});

describe('report E14', () => {
  it('report E14, E35: a queued task, a waiting member and a stuck task can all be cancelled', async () => {
    begin();
    await world.start({ handlers: [noting('stuck', () => world.sleep(86_400_000)), noting('after')] });
    const queued = await world.client.submit(job('unknown'));
    const flow = await world.client.submit(chain([job('stuck'), job('after')]));
    await world.pass(500);
    await world.wait(world.client.cancel(queued.id));
    await expect(queued.result()).rejects.toMatchObject({ code: 'task-cancelled' });
    // Its handler never listens; force ends it here and now.
    await world.wait(world.client.cancel(`${flow.id}.00000`, { force: true }));
    expect((await world.wait(world.client.waitWorkflow(flow.id))).state).toBe('FAILURE');
    expect(ran).toEqual(['stuck']);
  });
});
