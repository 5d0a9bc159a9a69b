/** Submitting tasks and workflows, and asking beforehand what would be created. The rules and their words are core's. */
import {
  compileWorkflow,
  fromMachinery,
  isDerivedId,
  LeaseholdError,
  LIMITS,
  mapSignatures,
  normalizeWorkflow,
  payloadBytes,
  type Signature,
  type Workflow,
} from '@leasehold/core/model';
import { advance, submitWorkflow, type Submitted } from '@leasehold/core/store';
import { Done, SubmitCheck, SubmitTask, SubmitWorkflow } from '@leasehold/wire';
import type { z } from 'zod';
import type { Board } from '../projection/board.js';
import { withHandlerDefaults } from './advertised.js';
import { operatorCall, route, type Call, type Route, type RouteContext } from './route.js';

type AnyCall = Call<unknown, unknown, unknown>;

function taskOf(body: z.output<typeof SubmitTask>): Workflow {
  const { reason: _reason, ...signature } = body;
  return { kind: 'task', signature: signature as unknown as Signature };
}

function workflowOf({ workflow, format }: z.output<typeof SubmitWorkflow>): {
  workflow: Workflow;
  warnings: readonly string[];
} {
  if (format === 'leasehold') return { workflow: workflow as Workflow, warnings: [] };
  const imported = fromMachinery(workflow);
  return { workflow: imported.workflow, warnings: imported.notes.map(({ path, problem }) => `${path}: ${problem}`) };
}

/** The client's own id makes a second click, or a repeated request, the same submission. */
function idOf(call: AnyCall, workflow: Workflow): string {
  const own = workflow.kind === 'task' ? workflow.signature.id : undefined;
  const id = call.idempotent ? call.operationId : (own ?? call.operationId);
  if (!isDerivedId(id)) return id;
  throw new LeaseholdError('invalid', `id: "${id}" has the form of a workflow member's; choose one without a dot`, {
    field: 'id',
    value: id,
  });
}

async function submit(
  call: AnyCall,
  context: RouteContext,
  given: Workflow,
  more: { name?: string; tags?: readonly string[]; reason?: string },
): Promise<Done> {
  const { store, logger } = context;
  const { actor } = call.identity;
  const filled = withHandlerDefaults(context.board, store, given);
  const checked = normalizeWorkflow(filled, {}, store.now(), { ...LIMITS, ...store.limits });
  // What a handler declares as secret is marked in the record, so that it stays hidden when no worker is there to say so.
  const workflow = mapSignatures(checked, (signature) => {
    const secrets = context.board.state.secrets.of(signature);
    return secrets.length === 0 ? signature : { ...signature, secrets: [...new Set(secrets)] };
  });
  const { reason, ...named } = more;
  const audit = operatorCall(call, reason === undefined ? {} : { reason });
  const done = await submitWorkflow(store, actor, workflow, { id: idOf(call, workflow), ...named, audit });
  if (done.kind === 'workflow') {
    advance(store, actor, done.id).catch((error: unknown) => {
      logger.warn('gateway: a workflow could not be unfolded; the leader will', { id: done.id, error });
    });
  }
  return doneOf(done);
}

function doneOf({ id, revision, kind, created }: Submitted): Done {
  return { id, revision: revision.toString(), kind, created };
}

const submitTask = route({
  method: 'POST',
  url: '/tasks',
  permission: 'task.submit',
  summary: 'Submit a task: a signature with typed arguments',
  body: SubmitTask,
  response: Done,
  run: (call, context) => {
    const { reason } = call.body;
    return submit(call, context, taskOf(call.body), typeof reason === 'string' ? { reason: reason.slice(0, 500) } : {});
  },
});

const submitFlow = route({
  method: 'POST',
  url: '/workflows',
  permission: 'workflow.submit',
  summary: "Submit a chain, group or chord: ours, or Machinery's JSON",
  body: SubmitWorkflow,
  response: Done,
  run: (call, context) => {
    const { name, tags } = call.body;
    const more = { ...(name === undefined ? {} : { name }), ...(tags === undefined ? {} : { tags }) };
    return submit(call, context, workflowOf(call.body).workflow, more);
  },
});

const checkTask = route({
  method: 'POST',
  url: '/tasks/check',
  permission: 'task.submit',
  summary: 'What submitting this task would create; writes nothing',
  body: SubmitTask,
  response: SubmitCheck,
  run: async (call, context) => check(context, taskOf(call.body), []),
});

const checkFlow = route({
  method: 'POST',
  url: '/workflows/check',
  permission: 'workflow.submit',
  summary: 'What submitting this workflow would create; writes nothing',
  body: SubmitWorkflow,
  response: SubmitCheck,
  run: async (call, context) => {
    const { workflow, warnings } = workflowOf(call.body);
    return check(context, workflow, warnings);
  },
});

function check({ board, store }: RouteContext, given: Workflow, warnings: readonly string[]): SubmitCheck {
  const limits = { ...LIMITS, ...store.limits };
  const workflow = normalizeWorkflow(withHandlerDefaults(board, store, given), {}, store.now(), limits);
  const { tasks, joins } = compileWorkflow('check', workflow);
  const sizes = tasks.map(({ signature }) => payloadBytes(signature.args));
  return {
    bytes: Math.max(0, ...sizes.slice(0, 10_000)),
    limit: limits.payloadBytes,
    tasks: tasks.length,
    // The root join stands for the workflow itself.
    joins: workflow.kind === 'task' ? 0 : joins.length - 1,
    unknownNames: unknownNames(
      board,
      tasks.map(({ signature }) => signature),
    ),
    warnings: [...warnings],
  };
}

/** Names that no live worker would take from their queue. */
function unknownNames(board: Board, signatures: readonly Signature[]): string[] {
  const nodes = board.state.liveNodes().map(({ record }) => record);
  const served = (name: string, queue: string): boolean =>
    nodes.some(
      (node) => node.queues.some((each) => each.name === queue) && node.handlers.some((each) => each.name === name),
    );
  const missing = signatures.filter(({ name, queue = 'default' }) => !served(name, queue));
  return [...new Set(missing.map(({ name }) => name))].slice(0, 50);
}

export const SUBMIT_ROUTES: readonly Route[] = [submitTask, submitFlow, checkTask, checkFlow];
