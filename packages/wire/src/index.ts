/** The contract between gateway and browser. Pure and browser-safe. */
export * from './access.js';
export * from './audit.js';
export * from './bulk.js';
export * from './constants.js';
export * from './decimal.js';
export * from './history.js';
export * from './live.js';
export * from './problem.js';
export * from './query.js';
export * from './rest.js';
export * from './rows.js';
export * from './scalars.js';
export * from './schedules.js';
export * from './socket.js';
export * from './summary.js';
export * from './summary-of.js';
export * from './url.js';
