import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/runtime/index.js';
import { Intake } from '../../src/worker/intake.js';
import { memoryRig } from '../store/stores.js';
import { submit } from './rig.js';

/** Far more than any pass needs; a loop that wakes itself in microtasks is past it at once. */
const SPIN = 1_000;

describe('the intake of a queue', () => {
  it('does not spin when the owned shards change during a read and the new list takes its time', async () => {
    const rig = memoryRig();
    const { store, kv } = rig.process();
    for (let n = 0; n < 200; n++) await submit(store, 'noop');
    let changed = false;
    let capable = false;
    const intake = new Intake({
      store,
      clock: rig.clock,
      logger: silentLogger,
      queue: 'default',
      // At first it can run none of them, so one page is never enough.
      accepts: () => capable,
      wake: () => undefined,
      pageSize: 2,
    });
    let asked = 0;
    let reading = false;
    const wanting = intake.window.wanting.bind(intake.window);
    intake.window.wanting = () => {
      asked += 1;
      // A spin in microtasks would let no timer run, the test's own included: it is ended from here.
      if (asked > SPIN) throw new Error('the read loop spins');
      const found = wanting();
      reading ||= found.length > 0;
      return found;
    };
    kv.intercept = ({ method }) => {
      // The new feed asks for the store's status first, and gets no answer in time.
      if (changed) return method === 'status' ? { delayMs: 10_000 } : 'pass';
      if (reading && method === 'range') {
        changed = true;
        intake.own({ from: 4, to: 8 });
      }
      return 'pass';
    };
    intake.own({ from: 0, to: 4 });
    await rig.advance(500);
    expect(changed).toBe(true);
    await rig.advance(20_000);
    expect(asked).toBeLessThan(SPIN);
    // And it goes on with the new shards once they are listed.
    capable = true;
    kv.intercept = () => 'pass';
    await rig.advance(20_000);
    expect(intake.take()).toBeDefined();
    const closing = intake.close();
    await rig.advance(5_000);
    await closing;
  });
});
