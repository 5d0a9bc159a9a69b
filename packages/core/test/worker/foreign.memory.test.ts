import { describe, expect, it } from 'vitest';
import { handling, submit, taskOf, workerRig, type WorkerRig } from './rig.js';

/** A task as a program in another language may have put it. */
async function plant({ store }: WorkerRig, id: string, record: object): Promise<void> {
  const order = String(store.now()).padStart(15, '0');
  const value = JSON.stringify({ v: 1, id, name: 't', status: 'PENDING', order: store.now(), ...record });
  await store.kv.txn({
    compare: [],
    success: [
      { kind: 'put', key: store.keys.task(id), value },
      { kind: 'put', key: `${store.keys.prefix}ready/default/00/${order}/${id}`, value: JSON.stringify({ name: 't' }) },
    ],
  });
}

describe('records of other languages', () => {
  it('that hold the least a task needs are run', async () => {
    const rig = workerRig();
    const made = await rig.start({ handlers: [handling('t')] });
    await plant(rig, 'least', {});
    await rig.advance(1_000);
    expect(await taskOf(rig.store, 'least')).toMatchObject({ state: 'SUCCESS', attempt: 1, queue: 'default' });
    await made.stop();
  });

  it.each([
    ['an unknown state', { status: 'Pending' }],
    ['no name', { name: undefined }],
    ['a later layout', { v: 99 }],
  ])('with %s are left alone, and keep no other task from running', async (_what, record) => {
    const rig = workerRig();
    await plant(rig, 'odd', record);
    let asked = 0;
    const range = rig.store.kv.txn.bind(rig.store.kv);
    const made = await rig.start({ handlers: [handling('t')] });
    const id = await submit(rig.store, 't');
    await rig.advance(20_000);
    expect((await taskOf(rig.store, id)).state).toBe('SUCCESS');
    Object.assign(rig.store.kv, { txn: (...args: Parameters<typeof range>) => ((asked += 1), range(...args)) });
    await rig.advance(60_000);
    // Not asked for again and again: only the audit looks at the store.
    expect(asked).toBeLessThan(40);
    await made.stop();
  });
});
