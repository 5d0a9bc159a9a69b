import type { Bench } from './bench.js';
export const latency: Bench = { name: 'latency', about: 'tbd', run: () => Promise.resolve([]) };
