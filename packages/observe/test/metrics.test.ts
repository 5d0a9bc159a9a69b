import { readFileSync } from 'node:fs';
import { defineTask, handle } from '@leasehold/core';
import { createTestScheduler } from '@leasehold/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { METRICS, observeNode, serveMetrics, type MetricsServer } from '../src/index.js';

const good = defineTask('good', { args: ['int64'], results: ['int64'] });
const bad = defineTask('bad', { args: [], retry: { count: 1, delayMs: 1_000 } });

let server: MetricsServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function played() {
  const told: string[] = [];
  const metrics = observeNode({ after: ({ name }, state) => void told.push(`${name} ${state}`) });
  const scheduler = await createTestScheduler({
    handlers: [
      handle(good, ([n]) => n),
      handle(bad, () => {
        throw new TypeError('broken');
      }),
    ],
    hooks: metrics.hooks,
  });
  metrics.watch(scheduler.node);
  await scheduler.run(good.signature([1n]));
  await scheduler.submit(bad.signature([]));
  await scheduler.settle();
  return { metrics, scheduler, told };
}

describe('metrics of a node', () => {
  it('count attempts by outcome, errors by type, and call the hooks that were there', async () => {
    const { metrics, scheduler, told } = await played();
    const text = await metrics.register.metrics();
    expect(text).toContain('leasehold_attempts_total{queue="default",name="good",state="SUCCESS"} 1');
    expect(text).toContain('leasehold_attempts_total{queue="default",name="bad",state="RETRY"} 1');
    expect(text).toContain('leasehold_attempts_total{queue="default",name="bad",state="FAILURE"} 1');
    expect(text).toContain('leasehold_attempts_failed_total{queue="default",name="bad",type="TypeError"} 2');
    expect(text).toContain('leasehold_attempt_seconds_count{queue="default",name="good"} 1');
    expect(text).toContain('leasehold_claims_total 3');
    expect(text).toContain('leasehold_session 1');
    expect(text).toContain('leasehold_leader 1');
    expect(told.toSorted()).toEqual(['bad FAILURE', 'bad RETRY', 'good SUCCESS']);
    await scheduler.stop();
    expect(await metrics.register.metrics()).toContain('leasehold_session 0');
  });

  it('a counter read twice is not counted twice', async () => {
    const { metrics, scheduler } = await played();
    await metrics.register.metrics();
    expect(await metrics.register.metrics()).toContain('leasehold_claims_total 3');
    await scheduler.stop();
  });

  it('names beyond the first 500 are counted together', async () => {
    const { hooks, register } = observeNode();
    for (let n = 0; n < 600; n++) await hooks.after?.({ queue: 'q', name: `n${n}` } as never, 'SUCCESS');
    const text = await register.metrics();
    expect(text).toContain('leasehold_attempts_total{queue="q",name="(other)",state="SUCCESS"} 100');
  });

  it('every name that docs, alerts and the dashboard use is one of ours, and every one of ours is documented', () => {
    const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    const known = new Set(
      Object.keys(METRICS).flatMap((name) => [name, `${name}_count`, `${name}_sum`, `${name}_bucket`]),
    );
    for (const file of ['docs/observability.md', 'deploy/prometheus/alerts.yml', 'deploy/grafana/leasehold.json']) {
      const used = new Set(read(file).match(/leasehold_[a-z_]+/g));
      expect(
        [...used].filter((name) => !known.has(name)),
        file,
      ).toEqual([]);
      if (file.endsWith('.md')) expect(Object.keys(METRICS).filter((name) => !used.has(name))).toEqual([]);
    }
    expect(() => JSON.parse(read('deploy/grafana/leasehold.json')) as unknown).not.toThrow();
  });
});

describe('the metrics server', () => {
  it('answers health without data, and metrics only with the token', async () => {
    const { metrics, scheduler } = await played();
    let ready = false;
    server = await serveMetrics({ register: metrics.register, port: 0, token: 's3cret', ready: () => ready });
    const at = `http://127.0.0.1:${server.port}`;
    expect(await (await fetch(`${at}/healthz`)).text()).toBe('alive\n');
    expect((await fetch(`${at}/readyz`)).status).toBe(503);
    ready = true;
    expect((await fetch(`${at}/readyz`)).status).toBe(200);
    expect((await fetch(`${at}/metrics`)).status).toBe(401);
    expect((await fetch(`${at}/metrics`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    const answer = await fetch(`${at}/metrics`, { headers: { authorization: 'Bearer s3cret' } });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('# TYPE leasehold_attempts_total counter');
    expect((await fetch(`${at}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${at}/`)).status).toBe(404);
    await scheduler.stop();
  });

  it('refuses an address that others can reach without a token', async () => {
    const { register } = observeNode();
    await expect(serveMetrics({ register, port: 0, host: '0.0.0.0' })).rejects.toThrow('need a token');
  });
});
