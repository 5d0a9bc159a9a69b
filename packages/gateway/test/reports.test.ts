import { describe, expect, test } from 'vitest';
import { openWorld, text } from './world.js';

describe('reports of users of other boards', () => {
  test('report B1: a list carries previews, however large the arguments are', async () => {
    const world = await openWorld();
    try {
      for (let i = 0; i < 5; i++) await world.submit('mail', [text('x'.repeat(100_000))]);
      await world.caughtUp();
      const answer = await world.call('GET', '/tasks');
      expect(answer.status).toBe(200);
      expect(answer.body['total']).toBe(5);
      expect(JSON.stringify(answer.body).length).toBeLessThan(10_000);
    } finally {
      await world.close();
    }
  });

  test('report B8: what is beyond the cap is said with its number', async () => {
    const world = await openWorld('memory', { caps: { tasks: 3 } });
    try {
      for (let i = 0; i < 5; i++) await world.submit('mail');
      await world.caughtUp();
      const cluster = await world.call('GET', '/cluster');
      expect(cluster.body['feed']).toMatchObject({ rows: 3, dropped: 2 });
    } finally {
      await world.close();
    }
  });
});
