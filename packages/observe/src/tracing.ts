/**
 * One trace from the submission over every attempt to the last step of a workflow: the W3C context travels in the
 * signatures' headers, so it survives etcd, retries and other processes. What a span is recorded with, and where it goes,
 * is up to the OpenTelemetry SDK of the application.
 */
import { isWorkflow, type Handling, type Signature, type Workflow } from '@leasehold/core';
import { context, propagation, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';

const NAME = '@leasehold/observe';

/**
 * For a client's or a node's `beforePublish`: records the submission as a span of the trace that is current, and puts that
 * trace into every signature of what is submitted. Headers that a signature has already stand.
 */
export function traceSubmissions(tracer: Tracer = trace.getTracer(NAME)): (workflow: Workflow) => Workflow {
  return (workflow) => {
    const span = tracer.startSpan(`submit ${titleOf(workflow)}`, {
      kind: SpanKind.PRODUCER,
      attributes: { 'messaging.system': 'leasehold', 'messaging.operation.type': 'send' },
    });
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(context.active(), span), carrier);
    span.end();
    return withHeaders(workflow, carrier);
  };
}

/** Wraps handlers: each attempt is a span, child of the submission's, and current while the handler runs. */
export function traceHandlers(
  handlers: readonly Handling[],
  tracer: Tracer = trace.getTracer(NAME),
): readonly Handling[] {
  return handlers.map((handling) => ({
    ...handling,
    run: (args, task, threads) => {
      const parent = propagation.extract(context.active(), task.headers);
      const attributes = {
        'messaging.system': 'leasehold',
        'messaging.operation.type': 'process',
        'messaging.destination.name': task.queue,
        'messaging.message.id': task.id,
        'leasehold.attempt': task.attempt,
        'leasehold.token': String(task.token.revision),
      };
      return tracer.startActiveSpan(
        `run ${task.name}`,
        { kind: SpanKind.CONSUMER, attributes },
        parent,
        async (span) => {
          try {
            const returned: unknown = await handling.run(args, task, threads);
            span.setStatus({ code: SpanStatusCode.OK });
            return returned;
          } catch (error) {
            const thrown = error instanceof Error ? error : new Error(String(error));
            span.recordException(thrown);
            span.setStatus({ code: SpanStatusCode.ERROR, message: thrown.message });
            throw error;
          } finally {
            span.end();
          }
        },
      );
    },
  }));
}

function titleOf(workflow: Workflow): string {
  return workflow.kind === 'task' ? workflow.signature.name : workflow.kind;
}

/** A copy in which every signature, callbacks included, has these headers. */
function withHeaders<T extends Workflow>(workflow: T, headers: Readonly<Record<string, string>>): T {
  return mapSignatures(workflow, (signature) => ({ ...signature, headers: { ...headers, ...signature.headers } })) as T;
}

type Nested = Workflow | Signature | readonly Nested[] | string | number | boolean | undefined | null | object;

function mapSignatures(value: Nested, change: (signature: Signature) => Signature): Nested {
  if (Array.isArray(value)) return (value as readonly Nested[]).map((item) => mapSignatures(item, change));
  if (typeof value !== 'object' || value === null || !isWorkflow(value as Workflow)) return value;
  const workflow = value as Workflow;
  if (workflow.kind === 'task') {
    const { onSuccess, onError, ...plain } = change(workflow.signature);
    const callbacks = {
      ...(onSuccess === undefined ? {} : { onSuccess: mapSignatures(onSuccess, change) }),
      ...(onError === undefined ? {} : { onError: mapSignatures(onError, change) }),
    };
    return { ...workflow, signature: { ...plain, ...callbacks } };
  }
  return Object.fromEntries(
    Object.entries(workflow).map(([field, item]) => [field, mapSignatures(item as Nested, change)]),
  );
}
