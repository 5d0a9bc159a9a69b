/** What no test of Machinery covers (part two, d), and its known faults: ours is right. */
import { afterEach, describe, expect, it } from 'vitest';
import { chain, chord, defineTask, group, handle, Snooze, type Handling, type TaskContext } from '../../src/index.js';
import { add, handleAdd, handleMultiply, multiply } from './tasks.js';
import { memoryOnly, worlds, type World } from './world.js';

const failing = defineTask('failing', { args: ['string'] });
const slow = defineTask('slow', { results: ['int64'] });

describe.each(worlds)('what Machinery never tested, on $on', ({ open, real }) => {
  let world: World;
  let calls: { readonly name: string; readonly args: unknown; readonly context: TaskContext; readonly atMs: number }[];
  afterEach(() => world.close());

  /** A handler that notes how it was called. */
  function noting(
    name: string,
    run: (context: TaskContext) => unknown = () => undefined,
    type: 'json' | 'int64' = 'json',
  ): Handling {
    return handle(defineTask(name, { variadic: type }), (args, context) => {
      calls.push({ name, args, context, atMs: world.clock.now() });
      return run(context);
    });
  }

  function openWorld(): World {
    calls = [];
    world = open();
    return world;
  }

  const failHandler = handle(failing, ([message]) => {
    throw new Error(message);
  });
  const argsOf = (name: string): unknown => calls.find((one) => one.name === name)?.args;

  it('RetryCount: so many retries after the first attempt, Fibonacci seconds apart, each with its number', async () => {
    openWorld();
    const retries = real ? 2 : 5;
    const flaky = noting('flaky', ({ attempt }) => {
      if (attempt <= retries) throw new Error(`failure ${attempt}`);
      return attempt;
    });
    await world.start({ handlers: [flaky] });
    expect(await world.run({ name: 'flaky', args: [], retry: { count: retries } })).toEqual([BigInt(retries + 1)]);
    const waits = calls.slice(1).map(({ atMs }, i) => atMs - (calls[i]?.atMs ?? 0));
    for (const [i, seconds] of [1, 2, 3, 5, 8].slice(0, retries).entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(seconds * 1_000);
      // On the twin nothing but the delay itself takes time.
      if (!real) expect(waits[i]).toBeLessThan(seconds * 1_000 + 300);
    }
    expect(calls.map(({ context }) => [context.attempt, context.failures])).toEqual(
      Array.from({ length: retries + 1 }, (_, i) => [i + 1, i]),
    );
  });

  it('RetryCount: when none is left it is FAILURE, and every error is kept', async () => {
    openWorld();
    await world.start({
      handlers: [noting('flaky', ({ attempt }) => Promise.reject(new Error(`failure ${attempt}`)))],
    });
    const { id } = await world.wait(
      world.client.submit({ name: 'flaky', args: [], retry: { count: 2, backoff: 'fixed', delayMs: 10 } }),
    );
    expect(await world.wait(world.client.wait(id))).toMatchObject({
      state: 'FAILURE',
      attempt: 3,
      failures: 3,
      error: { message: 'failure 3', attempt: 3 },
      pastErrors: [{ message: 'failure 1' }, { message: 'failure 2' }, { message: 'failure 3' }],
    });
  });

  it('retry later, then success: it uses no retry, and what failed before is not forgotten', async () => {
    openWorld();
    const later = noting('later', ({ attempt }) => {
      if (attempt < 3) throw new Snooze(50);
      return 'now';
    });
    await world.start({ handlers: [later] });
    const handle = await world.wait(world.client.submit({ name: 'later', args: [] }));
    expect(await world.wait(handle.result())).toEqual(['now']);
    expect(await world.client.get(handle.id)).toMatchObject({ attempt: 3, failures: 0, snoozes: 2 });
  });

  it('OnError: each gets the error text first, then its own arguments; Immutable does not matter there', async () => {
    openWorld();
    await world.start({ handlers: [failHandler, noting('first'), noting('second')] });
    const onError = ['first', 'second'].map((name) => ({
      kind: 'task' as const,
      signature: { name, args: [{ type: 'string' as const, value: 'own' }], immutable: name === 'second' },
    }));
    const { id } = await world.wait(world.client.submit(failing.signature(['why'], { onError })));
    await world.wait(world.client.wait(id));
    await world.wait(Promise.all([0, 1].map((n) => world.client.wait(`${id}.e1.${n}`))));
    expect([argsOf('first'), argsOf('second')]).toEqual([
      ['why', 'own'],
      ['why', 'own'],
    ]);
  });

  it('Immutable on a task: its results do not reach what follows; on a callback: the group’s do not reach it', async () => {
    openWorld();
    await world.start({
      handlers: [handleAdd, noting('after'), noting('callback'), noting('both', undefined, 'int64')],
    });
    const own = { args: [{ type: 'string' as const, value: 'own' }] };
    await world.run(chain([add.signature([1n], { immutable: true }), { name: 'after', ...own }]));
    await world.run(chord([add.signature([1n]), add.signature([2n])], { name: 'callback', ...own, immutable: true }));
    await world.run(
      chord([add.signature([1n], { immutable: true }), add.signature([2n])], {
        name: 'both',
        args: [{ type: 'int64', value: '9' }],
      }),
    );
    expect(argsOf('after')).toEqual(['own']);
    expect(argsOf('callback')).toEqual(['own']);
    // A member that is immutable keeps its own results; the others arrive.
    expect(argsOf('both')).toEqual([9n, 2n]);
  });

  it.each(['stop', 'wait-all', 'ignore'] as const)(
    'a chord with a failing member under %s ends, and says so',
    async (onFailure) => {
      openWorld();
      const workflow = chord(
        [add.signature([1n]), failing.signature(['broken']), add.signature([2n])],
        { name: 'echo', args: [] },
        {
          onFailure,
          onError: { name: 'tell', args: [{ type: 'string', value: 'own' }] },
        },
      );
      await world.start({
        handlers: [handleAdd, failHandler, noting('echo', undefined, 'int64'), noting('tell')],
      });
      const submitted = await world.wait(world.client.submit(workflow));
      const ended = await world.wait(world.client.waitWorkflow(submitted.id));
      if (onFailure === 'ignore') {
        expect(ended.state).toBe('SUCCESS');
        expect(argsOf('echo')).toEqual([1n, 2n]);
        return;
      }
      expect(ended).toMatchObject({ state: 'FAILURE', failures: [{ name: 'failing', attempt: 1 }] });
      await expect(world.wait(submitted.result())).rejects.toMatchObject({ code: 'task-failed' });
      expect(argsOf('echo')).toBeUndefined();
      const told = (await world.tasks()).find(({ name }) => name === 'tell');
      await world.wait(world.client.wait(told?.id ?? ''));
      expect(argsOf('tell')).toEqual([
        [{ task_id: `${submitted.id}.00001`, name: 'failing', attempt: 1, error: 'Error: broken' }],
        'own',
      ]);
      expect((await world.tasks()).find(({ name }) => name === 'echo')).toMatchObject({
        state: 'CANCELLED',
        error: { message: expect.stringContaining('failing did not succeed') as unknown },
      });
    },
  );

  it('a chord larger than a transaction, with members that outlive every TTL, calls back once with all results', async () => {
    openWorld();
    // Machinery's results live an hour; a lease here lives ten seconds, or two.
    const slowMs = real ? 5_000 : 4_000_000;
    await world.start({
      leaseTtlMs: real ? 2_000 : 10_000,
      concurrency: 300,
      handlers: [
        handleAdd,
        handle(slow, async (_args, { signal }) => {
          await world.sleep(slowMs, signal);
          return 1_000n;
        }),
      ],
    });
    const header = [
      slow.signature([], { timeoutMs: 2 * slowMs }),
      ...Array.from({ length: 299 }, (_, n) => add.signature([BigInt(n)])),
    ];
    const submitted = await world.wait(world.client.submit(chord(header, add.partial([]))));
    if (!real) await world.pass(slowMs);
    expect(await world.wait(submitted.result())).toEqual([1_000n + BigInt((299 * 298) / 2)]);
    const last = (await world.tasks()).find(({ id }) => id.endsWith('.00300'));
    expect(last).toMatchObject({ attempt: 1, losses: 0 });
  }, 60_000);

  it('IgnoreWhenTaskNotRegistered not set: an unknown name parks, without a loop, until somebody knows it', async () => {
    openWorld();
    const worker = await world.start({ handlers: [handleAdd] });
    const unknown = await world.wait(world.client.submit(multiply.signature([6n, 7n])));
    await world.pass(500);
    const before = worker.counts.requests;
    const passedMs = real ? 3_000 : 600_000;
    await world.pass(passedMs);
    // Lease, audits, promoter: a few a second at most. Machinery's loop made thousands.
    expect(worker.counts.requests - before).toBeLessThan((passedMs / 1_000) * 5);
    expect(await world.client.get(unknown.id)).toMatchObject({ state: 'PENDING', attempt: 0 });
    await world.start({ handlers: [handleMultiply] });
    expect(await world.wait(unknown.result())).toEqual([42n]);
  });

  it('duplicate delivery: the same submission twice is one task, and two workers run it once', async () => {
    openWorld();
    const handlers = [noting('once', () => world.sleep(50))];
    await world.start({ handlers });
    await world.start({ handlers });
    const twice = await world.wait(
      Promise.all([0, 1].map(() => world.client.submit({ name: 'once', args: [] }, { id: 'same' }))),
    );
    expect(twice.filter(({ created }) => created)).toHaveLength(1);
    await world.wait(world.client.wait('same'));
    await world.pass(200);
    expect(calls).toHaveLength(1);
    expect(await world.client.get('same')).toMatchObject({ state: 'SUCCESS', attempt: 1 });
  });

  it('GetWithTimeout: "timeout" says that it goes on; a failed member is never mistaken for a result', async () => {
    openWorld();
    const waiting = await world.wait(world.client.submit(add.signature([1n, 1n])));
    await expect(waiting.result({ timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
    await world.start({ handlers: [handleAdd, failHandler] });
    expect(await world.wait(waiting.result({ timeoutMs: 20_000 }))).toEqual([2n]);
    for (const part of [
      chord([add.signature([1n]), failing.signature(['member'])], add.partial([])),
      chord([add.signature([1n])], failing.partial(['callback'], { immutable: true })),
    ]) {
      const failed = await world.wait(world.client.submit(part));
      await expect(world.wait(failed.result({ timeoutMs: 20_000 }))).rejects.toMatchObject({ code: 'task-failed' });
    }
  });

  it('GetDelayedTasks: what waits for its time is listed, the next one first', async () => {
    openWorld();
    const now = world.clock.now();
    for (const minutes of [30, 10, 20]) {
      await world.wait(world.client.submit(add.signature([BigInt(minutes)], { etaMs: now + minutes * 60_000 })));
    }
    const scheduled = [];
    for await (const { args, state, dueMs } of world.client.scheduled())
      scheduled.push([args?.[0]?.value, state, dueMs]);
    expect(scheduled).toEqual([10, 20, 30].map((minutes) => [String(minutes), 'SCHEDULED', now + minutes * 60_000]));
  });

  it('quit during an ETA wait is immediate, and the task runs at its time elsewhere', async () => {
    openWorld();
    const first = await world.start({ handlers: [handleAdd] });
    const etaMs = world.clock.now() + (real ? 2_000 : 3_600_000);
    const waiting = await world.wait(world.client.submit(add.signature([1n, 1n], { etaMs })));
    await world.pass(300);
    const before = world.clock.monotonic();
    await first.stop();
    expect(world.clock.monotonic() - before).toBeLessThan(real ? 30_000 : 1_000);
    expect(await world.client.get(waiting.id)).toMatchObject({ dueMs: etaMs, attempt: 0 });
    await world.start({ handlers: [handleAdd] });
    if (!real) await world.pass(3_600_000);
    expect(await world.wait(waiting.result())).toEqual([2n]);
    expect((await world.client.get(waiting.id))?.startedMs).toBeGreaterThanOrEqual(etaMs);
  });

  it('handlers around a task: pre-task, the task, then error handler and post-task, with the signature at hand', async () => {
    openWorld();
    const order: string[] = [];
    await world.start({
      handlers: [
        handle(failing, ([message], { name }) => {
          order.push(`run ${name}`);
          throw new Error(message);
        }),
      ],
      hooks: {
        before: ({ name, attempt }) => void order.push(`pre ${name} ${attempt}`),
        error: ({ name, id }, error, state) => void order.push(`error ${name} ${id} ${error.message} ${state}`),
        after: ({ name }, state) => void order.push(`post ${name} ${state}`),
      },
    });
    const { id } = await world.wait(
      world.client.submit(failing.signature(['x'], { id: 't', retry: { count: 1, backoff: 'fixed', delayMs: 1 } })),
    );
    await world.wait(world.client.wait(id));
    const attempt = (n: number, state: string): string[] => [
      `pre failing ${n}`,
      'run failing',
      `error failing t x ${state}`,
      `post failing ${state}`,
    ];
    // The hooks of the last attempt come after its outcome is stored, so after the wait is over.
    await world.pass(100);
    expect(order).toEqual([...attempt(1, 'RETRY'), ...attempt(2, 'FAILURE')]);
  });
});

describe.each(worlds)('the pre-publish handler on $on', ({ open }) => {
  it('sees members of groups too, and may change them', async () => {
    const world = open();
    const seen: string[] = [];
    const publisher = await world.start({
      handlers: [handleAdd],
      client: {
        beforePublish: (workflow) => {
          seen.push(workflow.kind);
          return workflow.kind === 'group' ? { ...workflow, concurrency: 1 } : workflow;
        },
      },
    });
    const { id } = await world.wait(publisher.node.client.submit(group([add.signature([1n]), add.signature([2n])])));
    expect(await world.wait(world.client.handle(id).then((handle) => world.wait(handle.result())))).toEqual([
      [1n],
      [2n],
    ]);
    expect(seen).toEqual(['group']);
    expect((await world.client.get(`${id}.00000`))?.workflow?.limits).toMatchObject([{ max: 1 }]);
    await world.close();
  });
});

describe('IgnoreWhenTaskNotRegistered', () => {
  it('is cancelled when no live worker knows its name, and runs when one does', async () => {
    const world = memoryOnly.open();
    await world.start({ handlers: [handleAdd] });
    const known = await world.client.submit(add.signature([1n], { ignoreWhenNotRegistered: true }));
    expect(await world.wait(known.result())).toEqual([1n]);
    const unknown = await world.client.submit(multiply.signature([1n], { ignoreWhenNotRegistered: true }));
    const parked = await world.client.submit(multiply.signature([1n]));
    const ended = await world.wait(world.client.wait(unknown.id));
    expect(ended).toMatchObject({ state: 'CANCELLED', cause: 'expired', attempt: 0 });
    expect((await world.client.get(parked.id))?.state).toBe('PENDING');
    await world.close();
  });
});
