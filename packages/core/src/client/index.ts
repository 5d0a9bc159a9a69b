export * from './client.js';
export * from './handle.js';
export * from './wait.js';
