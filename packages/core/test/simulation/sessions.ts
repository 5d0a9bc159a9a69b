import { silentLogger } from '../../src/runtime/logger.js';
import { loopRenewer } from '../../src/store/renewer.js';
import { openSession, type Session } from '../../src/store/session.js';
import type { Process } from './process.js';
import { tolerate } from './world.js';

/** Opens a session, as long as it takes. */
export async function sessionOf(process: Process, ttlMs: number): Promise<Session> {
  for (;;) {
    const session = await tolerate(() =>
      openSession({
        store: process.store,
        clock: process.clock,
        logger: silentLogger,
        renewer: loopRenewer,
        ttlMs,
        node: {
          host: process.name,
          pid: 1,
          version: '0',
          queues: [],
          handlers: [],
          labels: {},
          draining: false,
          candidate: true,
          layout: 1,
        },
      }),
    );
    if (session !== undefined) return session;
    await process.sleep(process.random.int(100, 1_000));
  }
}
