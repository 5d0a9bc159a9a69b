export * from './commit.js';
export * from './store.js';
export * from './submit.js';
export * from './claim.js';
export * from './settle.js';
export * from './edge.js';
export * from './ending.js';
