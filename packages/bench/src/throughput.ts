import type { Bench } from './bench.js';
export const throughput: Bench = { name: 'throughput', about: 'tbd', run: () => Promise.resolve([]) };
