import { describe, expect, it } from 'vitest';
import { chaos } from './chaos.js';

const FULL = process.env['LEASEHOLD_FULL'] === '1';
const TTL_MS = 4_000;

describe('chaos on three etcd members and three worker processes', () => {
  it(
    'whatever is killed, frozen or cut: every acknowledged submission ends, no invariant is broken (reports E1, E5, E20, E23, E31, E37, E43, E46, E47, E52)',
    { timeout: FULL ? 600_000 : 240_000 },
    async () => {
      const seed = FULL ? 2 : 1;
      const report = await chaos({ seed, durationMs: FULL ? 180_000 : 30_000, ttlMs: TTL_MS });
      expect(report.violations).toEqual([]);
      expect(report.problems).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(50);
      expect(Object.keys(report.faults).length).toBeGreaterThan(2);
    },
  );
});
