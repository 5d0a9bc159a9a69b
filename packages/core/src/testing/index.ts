/** For tests of handlers and workflows: a scheduler without a server, and a clock that tests move. */
export { createTestScheduler, type TestScheduler, type TestSchedulerOptions } from './scheduler.js';
export { FakeClock } from '../runtime/fake-clock.js';
export { MemoryStore } from '../kv/memory-kv.js';
