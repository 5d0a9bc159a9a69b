import { checkFields, checkInteger, invalid, type Limits } from './check.js';
import { LeaseholdError } from './errors.js';
import { display } from './plain.js';
import { LIMITS, type FailurePolicy, type Signature, type Workflow } from './signature.js';

/** The shape of workflows: checking it, counting it, changing every signature in it. */

const POLICIES: readonly unknown[] = ['stop', 'wait-all', 'ignore'] satisfies FailurePolicy[];

/** The known fields of each kind. */
const FIELDS: Readonly<Record<Workflow['kind'], readonly string[]>> = {
  task: ['kind', 'signature'],
  chain: ['kind', 'steps', 'onFailure', 'onError'],
  group: ['kind', 'members', 'onFailure', 'onError', 'concurrency'],
  chord: ['kind', 'header', 'callback', 'onFailure', 'onError', 'concurrency'],
};

interface Walk {
  readonly limits: Limits;
  /** Tasks of the workflow itself, which is what its limit counts. */
  tasks: number;
  /** Everything visited, callbacks included: bounds the work for a value that refers to one part many times. */
  visited: number;
}

/** The parts of a workflow that are workflows themselves, each with its path. The callback and onError are parts too. */
function partsOf(workflow: Workflow): readonly (readonly [path: string, part: Workflow])[] {
  const listed = (name: string, parts: readonly Workflow[]) =>
    parts.map((part, index) => [`.${name}[${index}]`, part] as const);
  if (workflow.kind === 'task') return [];
  const handler = workflow.onError === undefined ? [] : [['.onError', workflow.onError] as const];
  switch (workflow.kind) {
    case 'chain':
      return [...listed('steps', workflow.steps), ...handler];
    case 'group':
      return [...listed('members', workflow.members), ...handler];
    case 'chord':
      return [...listed('header', workflow.header), ['.callback', workflow.callback], ...handler];
  }
}

/** The number of tasks of a workflow, chord callbacks and error handlers included; a task's own callbacks are not. */
export function tasksIn(workflow: Workflow): number {
  if (workflow.kind === 'task') return 1;
  return partsOf(workflow).reduce((sum, [, part]) => sum + tasksIn(part), 0);
}

/** The same workflow with every signature replaced. `path` is where it stands: `.steps[1].members[3]`. */
export function mapSignatures(
  workflow: Workflow,
  map: (signature: Signature, path: string) => Signature,
  path = '',
): Workflow {
  if (workflow.kind === 'task') return { ...workflow, signature: map(workflow.signature, path) };
  const at = (name: string, part: Workflow) => mapSignatures(part, map, `${path}.${name}`);
  const all = (name: string, parts: readonly Workflow[]) => parts.map((part, index) => at(`${name}[${index}]`, part));
  const handler = workflow.onError === undefined ? {} : { onError: at('onError', workflow.onError) };
  switch (workflow.kind) {
    case 'chain':
      return { ...workflow, steps: all('steps', workflow.steps), ...handler };
    case 'group':
      return { ...workflow, members: all('members', workflow.members), ...handler };
    case 'chord':
      return {
        ...workflow,
        header: all('header', workflow.header),
        callback: at('callback', workflow.callback),
        ...handler,
      };
  }
}

function checkList(value: unknown, path: string): void {
  if (!Array.isArray(value)) throw invalid(path.slice(1), `${display(value)} is not a list of workflows`);
}

/** Checks the fields of one part, without going into the parts it has. */
function checkShape(value: unknown, path: string): Workflow {
  const field = path.slice(1) || 'workflow';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(
      field,
      `${display(value)} is not a workflow; give { kind: "task", signature } or a chain, group, chord`,
    );
  }
  const { kind } = value as { readonly kind?: unknown };
  if (typeof kind !== 'string' || !Object.hasOwn(FIELDS, kind)) {
    throw invalid(`${field}.kind`, `${display(kind)} is not one of ${Object.keys(FIELDS).join(', ')}`);
  }
  const workflow = value as Workflow;
  checkFields(workflow, FIELDS[workflow.kind], path === '' ? '' : `${field}.`);
  if (workflow.kind === 'task') return workflow;
  if (workflow.onFailure !== undefined && !POLICIES.includes(workflow.onFailure)) {
    throw invalid(`${field}.onFailure`, `${display(workflow.onFailure)} is not one of ${POLICIES.join(', ')}`);
  }
  if (workflow.kind === 'chain') {
    checkList(workflow.steps, `${path}.steps`);
    if (workflow.steps.length === 0)
      throw invalid(field, 'a chain without steps has no result; give it at least one step');
    return workflow;
  }
  if (workflow.concurrency !== undefined) checkInteger(workflow.concurrency, `${field}.concurrency`, 0, 1_000_000);
  if (workflow.kind === 'group') checkList(workflow.members, `${path}.members`);
  else checkList(workflow.header, `${path}.header`);
  return workflow;
}

function tooLarge(field: string, size: number, limit: number, what: string): LeaseholdError {
  const message = `${field}: ${size} ${what} exceed the limit of ${limit}; split it into several workflows`;
  return new LeaseholdError('too-large', message, { field, size, limit });
}

function visit(value: unknown, path: string, depth: number, walk: Walk): void {
  const { workflowDepth, workflowTasks } = walk.limits;
  if (depth > workflowDepth) {
    throw new LeaseholdError('too-large', `workflow: nested deeper than the limit of ${workflowDepth}; flatten it`, {
      field: 'workflow',
      size: depth,
      limit: workflowDepth,
    });
  }
  walk.visited += 1;
  if (walk.visited > 4 * workflowTasks)
    throw tooLarge('workflow', walk.visited, 4 * workflowTasks, 'parts and callbacks');
  const workflow = checkShape(value, path);
  if (workflow.kind !== 'task') {
    for (const [at, part] of partsOf(workflow)) visit(part, `${path}${at}`, depth + 1, walk);
    return;
  }
  walk.tasks += 1;
  if (walk.tasks > workflowTasks) throw tooLarge('workflow', walk.tasks, workflowTasks, 'tasks');
  visitCallbacks(workflow.signature, `${path}.signature`, depth, walk);
}

function visitCallbacks(signature: unknown, path: string, depth: number, walk: Walk): void {
  if (typeof signature !== 'object' || signature === null || Array.isArray(signature)) {
    throw invalid(path.slice(1), `${display(signature)} is not a signature; give { name, args, ... }`);
  }
  const { onSuccess, onError } = signature as { readonly onSuccess?: unknown; readonly onError?: unknown };
  for (const [name, list] of [['onSuccess', onSuccess] as const, ['onError', onError] as const]) {
    if (list === undefined) continue;
    checkList(list, `${path}.${name}`);
    const before = walk.tasks;
    const limit = walk.limits.callbackTasks;
    walk.tasks = 0;
    for (const [index, part] of (list as readonly unknown[]).entries()) {
      visit(part, `${path}.${name}[${index}]`, depth + 1, walk);
      if (walk.tasks > limit) throw tooLarge(`${path.slice(1)}.${name}`, walk.tasks, limit, 'tasks in one ending');
    }
    walk.tasks = before;
  }
}

/**
 * Checks the shape of a workflow that came from anywhere: kinds, fields, depth (callbacks included), number of tasks,
 * callbacks per task. An empty chain is refused; an empty group is allowed. Signatures are left to `normalizeSignature`.
 * @throws LeaseholdError `invalid` or `too-large`, with the path of the part.
 */
export function checkWorkflow(workflow: unknown, limits: Limits = LIMITS): Workflow {
  visit(workflow, '', 1, { limits, tasks: 0, visited: 0 });
  return workflow as Workflow;
}
