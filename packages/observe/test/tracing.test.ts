import { chain, defineTask, handle } from '@leasehold/core';
import { createTestScheduler } from '@leasehold/core/testing';
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { traceHandlers, traceSubmissions } from '../src/index.js';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('test');

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(async () => {
  context.disable();
  propagation.disable();
  await provider.shutdown();
});
beforeEach(() => exporter.reset());

const first = defineTask('first', { args: [], results: ['int64'] });
const second = defineTask('second', { args: ['int64'], retry: { count: 1, delayMs: 100 } });
const other = defineTask('other', { args: [] });

describe('traces', () => {
  it('submission, attempts, retries and the next step are one trace, and the span is current in the handler', async () => {
    const current: (string | undefined)[] = [];
    let tries = 0;
    const handlers = traceHandlers(
      [
        handle(first, () => {
          current.push(trace.getActiveSpan()?.spanContext().traceId);
          return 7n;
        }),
        handle(second, () => {
          tries += 1;
          if (tries === 1) throw new Error('not yet');
        }),
        handle(other, () => undefined),
      ],
      tracer,
    );
    const scheduler = await createTestScheduler({ handlers, client: { beforePublish: traceSubmissions(tracer) } });
    const callback = { ...second.partial([]), onSuccess: [{ kind: 'task' as const, signature: other.signature([]) }] };
    await scheduler.submit(chain([first.signature([]), callback]));
    await scheduler.settle();
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual([
      'submit chain',
      'run first',
      'run second',
      'run second',
      'run other',
    ]);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(current).toEqual([spans[0]?.spanContext().traceId]);
    const submitted = spans[0]?.spanContext().spanId;
    expect(spans.slice(1).every(({ parentSpanContext }) => parentSpanContext?.spanId === submitted)).toBe(true);
    expect(spans.map(({ status }) => status.code).slice(1, 4)).toEqual([
      SpanStatusCode.OK,
      SpanStatusCode.ERROR,
      SpanStatusCode.OK,
    ]);
    expect(spans[3]?.attributes).toMatchObject({ 'leasehold.attempt': 2, 'messaging.destination.name': 'default' });
    await scheduler.stop();
  });

  it('a submission inside a handler belongs to the trace of that handler', async () => {
    const scheduler = await createTestScheduler({
      handlers: traceHandlers(
        [
          handle(first, async () => (await scheduler.client.submit(other.signature([])), 1n)),
          handle(other, () => undefined),
        ],
        tracer,
      ),
      client: { beforePublish: traceSubmissions(tracer) },
    });
    await scheduler.submit(first.signature([]));
    await scheduler.settle();
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(exporter.getFinishedSpans()).toHaveLength(4);
    await scheduler.stop();
  });
});
