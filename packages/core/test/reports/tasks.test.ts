/** Reports on single tasks: retries, loss, uniqueness, sizes, names. */
import { afterEach, describe, expect, it } from 'vitest';
import { chord, defineTask, group, handle, Snooze, type Handling, type TaskContext } from '../../src/index.js';
import { MemoryConnection, type Outage } from '../../src/kv/index.js';
import { RECORD_LIMITS } from '../../src/model/task.js';
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
const text = (length: number) => ({ type: 'string' as const, value: 'x'.repeat(length) });

it('report E2: a handler that asks for later without end fails at its cap, and uses no retry on the way', async () => {
  begin();
  await world.start({ handlers: [noting('later', () => Promise.reject(new Snooze(1)))] });
  const { id } = await world.client.submit(job('later', { retry: { count: 3 } }));
  const ended = await world.wait(world.client.wait(id));
  expect(ended).toMatchObject({
    state: 'FAILURE',
    snoozes: RECORD_LIMITS.snoozes,
    error: { type: 'SnoozeLimitError' },
  });
  expect(ran).toHaveLength(RECORD_LIMITS.snoozes + 1);
});

describe('report E20', () => {
  it.each<Outage>(['refuse', 'blackhole'])(
    'report E20: after the store was away (%s) a worker consumes again',
    async (outage) => {
      begin();
      const worker = await world.start({ handlers: [noting('job')] });
      for (const awayMs of [3_000, 60_000]) {
        if (worker.kv instanceof MemoryConnection) worker.kv.disconnect(outage);
        await world.pass(awayMs);
        if (worker.kv instanceof MemoryConnection) worker.kv.heal();
        const { id } = await world.client.submit(group(Array.from({ length: 20 }, () => job('job'))));
        const before = world.clock.monotonic();
        await world.wait(world.client.waitWorkflow(id));
        expect(world.clock.monotonic() - before).toBeLessThan(30_000);
      }
      // Alive is who has a session and takes work, not a process that is up.
      expect(await world.client.nodes()).toHaveLength(1);
    },
  );
});

describe('report E34: a unique key lives exactly as long as its task', () => {
  const unique = { key: 'order-7', onConflict: 'reject' as const };
  const once = (name: string, more: object = {}) => job(name, { unique, ...more });

  it.each<[string, string, object, () => Promise<unknown>]>([
    ['success', 'good', {}, () => Promise.resolve()],
    ['an error', 'bad', {}, () => Promise.resolve()],
    ['cancelling', 'nobody', {}, async () => world.client.cancel((await world.tasks())[0]?.id ?? '')],
    ['expiry', 'nobody', { expiresIn: 5_000 }, () => world.pass(6_000)],
  ])('report E34: held while it lives, however long; free the moment it ends by %s', async (_how, name, more, end) => {
    begin();
    const handlers = [noting('good'), noting('bad', () => Promise.reject(new Error('no')))];
    const { expiresIn, ...rest } = more as { expiresIn?: number };
    const signature = once(name, {
      ...rest,
      ...(expiresIn === undefined ? {} : { expiresMs: world.clock.now() + expiresIn }),
    });
    const first = await world.client.submit(signature);
    await expect(world.client.submit(once('good'))).rejects.toMatchObject({
      code: 'unique-conflict',
      fields: { holder: first.id, key: 'order-7' },
    });
    await world.start({ handlers });
    await world.wait(end());
    await world.wait(world.client.wait(first.id));
    const second = await world.client.submit(once('good'));
    expect(second.created).toBe(true);
    await world.wait(second.result());
  });

  it('report E34: kept through retries and the loss of a worker, which no time limit would be', async () => {
    begin();
    const victim = await world.start({ leader: false, handlers: [noting('job', () => world.sleep(3_600_000))] });
    const first = await world.client.submit(
      once('job', { retry: { count: 1, delayMs: 600_000, backoff: 'fixed', maxDelayMs: 600_000 } }),
    );
    await world.pass(1_000);
    if (victim.kv instanceof MemoryConnection) victim.kv.disconnect('blackhole');
    await world.start({
      handlers: [
        noting('job', ({ failures }) => {
          if (failures === 0) throw new Error('once');
        }),
      ],
    });
    await world.pass(60_000);
    expect(await world.client.get(first.id)).toMatchObject({ state: 'RETRY', losses: 1, failures: 1 });
    const again = await world.client.submit(job('job', { unique: { ...unique, onConflict: 'existing' } }));
    expect(again).toMatchObject({ id: first.id, created: false });
    await world.pass(600_000);
    expect((await world.client.wait(first.id)).state).toBe('SUCCESS');
    expect((await world.client.submit(once('job'))).created).toBe(true);
  });
});

describe('report E49: what is too large is refused early, and what is accepted arrives whole', () => {
  it('report E49: arguments over the limit say size, limit and what to do; nothing is stored', async () => {
    begin();
    const refused = world.client.submit(job('job', { args: [text(300_000)] }));
    await expect(refused).rejects.toMatchObject({ code: 'too-large', fields: { limit: 262_144 } });
    await expect(refused).rejects.toThrow(/300\d{3} bytes.*262144/);
    const inGroup = world.client.submit(group([job('job'), job('job', { args: [text(300_000)] })]));
    await expect(inGroup).rejects.toMatchObject({ code: 'too-large' });
    expect(await world.tasks()).toEqual([]);
  });

  it('report E49: at the limit it arrives whole, through a chord of many megabytes', async () => {
    begin();
    const lengths: number[] = [];
    await world.start({
      handlers: [
        noting('grow', (_context, [given]) => given),
        noting('gather', (_context, args) => void lengths.push(...args.map((one) => String(one).length))),
      ],
    });
    const header = Array.from({ length: 30 }, () => job('grow', { args: [text(250_000)] }));
    await world.run(chord(header, job('gather')));
    expect(lengths).toEqual(header.map(() => 250_000));
  });

  it('report E49: results too large for their callbacks are a failure that says so, never a callback that is lost', async () => {
    begin();
    const heard: number[] = [];
    await world.start({
      handlers: [
        noting('grow', (_context, [given]) => given),
        noting('hear', (_context, [given]) => void heard.push(String(given).length)),
        noting('tell'),
      ],
    });
    const three = group([job('hear'), job('hear'), job('hear')]);
    const { id } = await world.client.submit(
      job('grow', { args: [text(200_000)], onSuccess: [three], onError: [{ kind: 'task', signature: job('tell') }] }),
    );
    const ended = await world.wait(world.client.wait(id));
    await world.pass(1_000);
    if (ended.state === 'SUCCESS') expect(heard).toEqual([200_000, 200_000, 200_000]);
    else {
      expect(ended.error?.type).toBe('ResultTooLargeError');
      expect(ran).toContain('tell');
    }
  });

  it('report E49: an error callback that is too large is refused when it is submitted, not lost when it is due', async () => {
    begin();
    await world.start({ handlers: [noting('bad', () => Promise.reject(new Error('no'))), noting('tell')] });
    const many = group(Array.from({ length: 60 }, () => job('tell')));
    const heavy = group(Array.from({ length: 4 }, () => job('tell', { args: [text(200_000)] })));
    for (const onError of [many, heavy]) {
      ran = [];
      const outcome = await world.client.submit(group([job('bad')], { onError })).then(
        async ({ id }) => {
          await world.wait(world.client.waitWorkflow(id));
          await world.pass(5_000);
          return 'told';
        },
        (error: { code: string }) => error.code,
      );
      if (outcome === 'told') expect(ran).toContain('tell');
      else expect(outcome).toBe('too-large');
    }
  });
});

it('report E50: while a renamed task rolls out, old and new workers share the work and nothing is dropped', async () => {
  begin();
  const renamed = defineTask('send-mail', { aliases: ['mail'], variadic: 'json' });
  await world.start({ handlers: [noting('mail')] });
  const early = await world.client.submit(job('send-mail'));
  await world.pass(5_000);
  // Parked: only the old version is there, which does not know the new name.
  expect(await world.client.get(early.id)).toMatchObject({ state: 'PENDING', attempt: 0 });
  await world.start({ handlers: [handle(renamed, (_args, { name }) => void ran.push(`new ${name}`))] });
  await world.wait(early.result());
  await world.run(group(Array.from({ length: 20 }, (_, i) => job(i % 2 === 0 ? 'mail' : 'send-mail'))));
  expect(ran.filter((one) => one === 'new send-mail')).toHaveLength(11);
  const names = (await world.client.nodes()).map(({ handlers }) => handlers.map(({ name }) => name).sort());
  expect(names.sort((a, b) => a.length - b.length)).toEqual([['mail'], ['mail', 'send-mail']]);
});
