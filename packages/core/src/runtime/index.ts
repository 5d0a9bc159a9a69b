/** Time, lifecycle and logging: what every running part of the scheduler is made of. Knows nothing of tasks. */
export * from './backoff.js';
export { systemClock, type Clock, type Timer } from './clock.js';
export * from './fake-clock.js';
export * from './logger.js';
export * from './loop.js';
export * from './service.js';
