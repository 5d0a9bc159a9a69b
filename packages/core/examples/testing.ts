import assert from 'node:assert/strict';
import { chain } from '@leasehold/core';
import { createTestScheduler } from '@leasehold/core/testing';
import { handlers, updateProfile, verifyUser } from './profile.js';

/** A worker, a leader and a client in this process: no etcd, and no waiting, for the clock goes when it is told to. */
export async function main(): Promise<void> {
  const { run, submit, advance, client, clock, stop } = await createTestScheduler({ handlers });

  const steps = [verifyUser.signature({ user: 'Bob@Example.org' }), updateProfile.partial({ city: 'Rome' })];
  assert.deepEqual(await run(chain(steps)), ['bob@example.org lives in Rome']);

  await assert.rejects(run(verifyUser.signature({ user: 'nobody' })), { code: 'task-failed' });

  const later = await submit(verifyUser.signature({ user: 'a@b' }, { etaMs: clock.now() + 3_600_000 }));
  await advance(3_599_000);
  assert.equal((await client.get(later.id))?.state, 'SCHEDULED');
  await advance(2_000);
  assert.deepEqual(await later.result(), ['a@b']);

  await stop();
}
