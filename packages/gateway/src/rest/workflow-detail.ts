/** One workflow: its graph compiled from the stored source, and its members as the board has them. */
import { prefixEnd } from '@leasehold/core/kv';
import {
  LeaseholdError,
  mapSignatures,
  memberId,
  type CompiledWorkflow,
  type Signature,
  type Workflow,
} from '@leasehold/core/model';
import { decodeSource, readGraph, type Store } from '@leasehold/core/store';
import type { TaskRow, WorkflowDetail } from '@leasehold/wire';
import { redactText, showValues } from '../guard/redact.js';
import type { BoardView } from '../projection/board-view.js';
import { lastOf, predecessorsOf, type Predecessor } from '../projection/facts.js';
import { pictureOf } from '../projection/picture.js';
import { withoutPayload, workflowRow } from '../projection/rows.js';

/** Beyond it the page shows a list instead of a graph. */
const GRAPH_TASKS = 2_000;
/** As many as the page lists; the list of tasks has all. */
const MEMBERS = 500;
/** Two wide groups in a row would have millions of edges; the join stands for those that are left out. */
const EDGES_INTO_ONE = 100;

export async function workflowDetail(
  board: BoardView,
  store: Store,
  id: string,
  payload: boolean,
): Promise<WorkflowDetail> {
  const { state, facts, leases } = board;
  const row = workflowRow({ state, facts, leases }, id);
  const kept = state.workflows.get(id);
  if (row === undefined || kept === undefined)
    throw new LeaseholdError('not-found', `there is no workflow ${id}`, { id });
  const source = row.tasks <= GRAPH_TASKS ? await readSource(store, id) : undefined;
  const compiled = await readGraph(store, id);
  const graph = source === undefined ? undefined : compiled;
  const picture = compiled === undefined ? undefined : pictureOf(compiled, (task) => state.tasks.get(task)?.state);
  return {
    asOf: board.revision,
    row,
    source: source === undefined ? undefined : shownSource(board, source, payload),
    members: members(board, id, row.tasks).map((member) => (payload ? member : withoutPayload(member))),
    failures: (kept.record.failures ?? []).map((failure) => ({ ...failure, error: redactText(failure.error) })),
    ...(graph === undefined ? {} : { graph: graphView(board, graph) }),
    ...(picture === undefined ? {} : { picture }),
  };
}

function members(board: BoardView, id: string, tasks: number): TaskRow[] {
  const rows: TaskRow[] = [];
  for (let index = 0; index < Math.min(tasks, MEMBERS); index++) {
    const row = board.views.task(memberId(id, index));
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

async function readSource(store: Store, id: string): Promise<Workflow | undefined> {
  const key = store.keys.graphs(id);
  const { kvs } = await store.kv.range({ key, rangeEnd: prefixEnd(key), limit: 16 });
  return kvs.length === 0 ? undefined : decodeSource(kvs.map(({ value }) => value));
}

/** The source for the builder, arguments redacted; without `payload`, all of them hidden. */
export function shownSource(board: BoardView, source: Workflow, payload: boolean): unknown {
  return mapSignatures(source, (signature) => {
    const { onSuccess: _success, onError: _error, ...rest } = signature;
    const secrets = payload ? board.state.secrets.of(signature) : signature.args.map((_, index) => index);
    return { ...rest, ...shownHeaders(signature), args: showValues(signature.args, secrets) as never };
  });
}

function shownHeaders({ headers }: Signature): Pick<Signature, 'headers'> {
  if (headers === undefined) return {};
  const [shown] = showValues([{ type: 'json', value: { ...headers } }]);
  return { headers: (shown?.value ?? {}) as Record<string, string> };
}

function graphView(board: BoardView, graph: CompiledWorkflow): NonNullable<WorkflowDetail['graph']> {
  const before = predecessorsOf(graph);
  const tasks = graph.tasks.map(({ index, id, signature }) => {
    const entry = board.state.tasks.get(id);
    const predecessor = before.get(index);
    const { state, attempt, startedMs, endedMs } = entry ?? {};
    return {
      index,
      id,
      name: signature.name,
      after: predecessor === undefined ? [] : tasksBehind(graph, predecessor),
      ...(predecessor !== undefined && 'join' in predecessor ? { join: predecessor.join } : {}),
      ...(state === undefined ? {} : { state }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(startedMs === undefined ? {} : { startedMs }),
      ...(endedMs === undefined ? {} : { endedMs }),
    };
  });
  const joins = graph.joins.map(({ join, slots, range, policy }) => {
    const { done, total } = board.facts.barrier(graph, join);
    return { join, slots, left: total - done, range: [range[0], range[1]] as [number, number], policy };
  });
  return { tasks, joins };
}

/** The last tasks of whatever stands before: of a join, those that report to it. */
function tasksBehind(graph: CompiledWorkflow, part: Predecessor): number[] {
  if ('task' in part) return [part.task];
  return lastOf(graph, part.join)
    .flatMap((last) => tasksBehind(graph, last))
    .slice(0, EDGES_INTO_ONE);
}
