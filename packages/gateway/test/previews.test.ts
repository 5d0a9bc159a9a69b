import { describe, expect, test } from 'vitest';
import { openWorld, text } from './world.js';

describe('the previews of a list', () => {
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
});
