/** What can be looked at. */
import {
  ClusterStatus,
  ErrorRow,
  HandlerList,
  LockPage,
  NodeRow,
  PageQuery,
  QueueDetail,
  RevQuery,
  QueueRow,
  TaskDetail,
  TaskHistogram,
  TaskListQuery,
  TaskPage,
  WorkflowDetail,
  WorkflowPage,
} from '@leasehold/wire';
import { LeaseholdError, type HandlerInfo } from '@leasehold/core/model';
import { z } from 'zod';
import type { Board } from '../projection/board.js';
import type { BoardView } from '../projection/board-view.js';
import { handlerShape, handlerView } from '../projection/rows.js';
import { narrowFilter } from '../auth/scope.js';
import { filterOfQuery, orderOfQuery, pageOf, taskPage } from './paging.js';
import { IdParams, NameParams, route, type Route, type RouteContext } from './route.js';
import { queueDetail } from './queue-detail.js';
import { taskDetail } from './task-detail.js';
import { workflowDetail } from './workflow-detail.js';
import { clusterStatus } from './cluster-status.js';

/** From the live board, or from one of the past. */
function at<T>(
  { board, pasts }: RouteContext,
  rev: string | undefined,
  read: (board: BoardView) => T | Promise<T>,
): Promise<T> {
  return rev === undefined ? Promise.resolve(read(board)) : pasts.with(rev, read);
}

const rowsOf = <T extends z.ZodType>(row: T) => z.object({ revision: z.string(), rows: z.array(row) });

const listTasks = route({
  method: 'GET',
  url: '/tasks',
  permission: 'board.read',
  summary: 'Tasks by filter and sort, page by page',
  query: TaskListQuery,
  response: TaskPage,
  run: ({ query, identity }, context) => {
    const filter = narrowFilter(filterOfQuery(query), identity.scope);
    const payload = identity.permissions.has('payload.read');
    return at(context, query.rev, (board) =>
      taskPage(board, filter, orderOfQuery(query.sort), query.limit, query.cursor, payload),
    );
  },
});

const getHistogram = route({
  method: 'GET',
  url: '/tasks-histogram',
  permission: 'board.read',
  summary: 'Tasks by the time they were created and by state, for the filter without its times',
  query: TaskListQuery,
  response: TaskHistogram,
  run: ({ query }, context) => at(context, query.rev, (board) => board.histograms.read(filterOfQuery(query))),
});

const getTask = route({
  method: 'GET',
  url: '/tasks/:id',
  permission: 'board.read',
  summary: 'Everything about one task: arguments, results, attempts, history, lock, logs',
  params: IdParams,
  query: RevQuery,
  response: TaskDetail,
  run: ({ params, query, identity }, context) =>
    at(context, query.rev, (board) =>
      taskDetail(board, context.store, params.id, identity.permissions.has('payload.read'), query.rev),
    ),
});

const listWorkflows = route({
  method: 'GET',
  url: '/workflows',
  permission: 'board.read',
  summary: 'Workflows, newest first',
  query: PageQuery,
  response: WorkflowPage,
  run: async ({ query }, { board }) => pageOf(board, rowsIn(board, 'workflows', query.q), query.limit, query.cursor),
});

const getWorkflow = route({
  method: 'GET',
  url: '/workflows/:id',
  permission: 'board.read',
  summary: 'A workflow with its graph and members',
  params: IdParams,
  query: RevQuery,
  response: WorkflowDetail,
  run: ({ params, query, identity }, context) =>
    at(context, query.rev, (board) => {
      board.refresh();
      return workflowDetail(board, context.store, params.id, identity.permissions.has('payload.read'));
    }),
});

const listNodes = route({
  method: 'GET',
  url: '/nodes',
  permission: 'board.read',
  summary: 'Live nodes, and those that departed lately',
  response: rowsOf(NodeRow),
  run: async (_call, { board }) => ({ rows: rowsIn(board, 'nodes'), revision: board.revision }),
});

const getNode = route({
  method: 'GET',
  url: '/nodes/:id',
  permission: 'board.read',
  summary: 'One node',
  params: IdParams,
  response: NodeRow,
  run: async ({ params }, { board }) => oneOf(board, 'nodes', params.id, 'node'),
});

const listLocks = route({
  method: 'GET',
  url: '/locks',
  permission: 'board.read',
  summary: 'Locks with their holders and countdowns, oldest first',
  query: PageQuery,
  response: LockPage,
  run: async ({ query }, { board }) => pageOf(board, rowsIn(board, 'locks', query.q), query.limit, query.cursor),
});

const listQueues = route({
  method: 'GET',
  url: '/queues',
  permission: 'board.read',
  summary: 'Queues with depth, workers and pauses',
  response: rowsOf(QueueRow),
  run: async (_call, { board }) => ({ rows: rowsIn(board, 'queues'), revision: board.revision }),
});

const getQueue = route({
  method: 'GET',
  url: '/queues/:name',
  permission: 'board.read',
  summary: 'One queue',
  params: NameParams,
  response: QueueRow,
  run: async ({ params }, { board }) => oneOf(board, 'queues', params.name, 'queue'),
});

const getQueueDetail = route({
  method: 'GET',
  url: '/queues/:name/detail',
  permission: 'board.read',
  summary: 'One queue by task name: what waits, who knows it, its pauses and limits; what ended in the last minute',
  params: NameParams,
  query: RevQuery,
  response: QueueDetail,
  run: ({ params, query }, context) =>
    at(context, query.rev, (board) => queueDetail(board, params.name, context.store.now())),
});

const listErrors = route({
  method: 'GET',
  url: '/errors',
  permission: 'board.read',
  summary: 'Errors grouped by fingerprint, latest first',
  response: rowsOf(ErrorRow),
  run: async (_call, { board }) => ({ rows: rowsIn(board, 'errors'), revision: board.revision }),
});

const getLeader = route({
  method: 'GET',
  url: '/leader',
  permission: 'board.read',
  summary: 'The elected leader and how late its duties are',
  response: z.object({ revision: z.string(), leader: z.unknown() }),
  run: async (_call, { board }) => {
    board.refresh();
    return { revision: board.revision, leader: board.views.small('summary').get('leader') };
  },
});

const listHandlers = route({
  method: 'GET',
  url: '/handlers',
  permission: 'board.read',
  summary: 'Task names that live workers advertise, with their argument types',
  response: HandlerList,
  run: async (_call, { board }) => ({ revision: board.revision, handlers: handlersOf(board) }),
});

const getCluster = route({
  method: 'GET',
  url: '/cluster',
  permission: 'cluster.read',
  summary: 'etcd and the feed that the board lives on',
  response: ClusterStatus,
  run: (_call, context) => clusterStatus(context),
});

export const READ_ROUTES: readonly Route[] = [
  listTasks,
  getHistogram,
  getTask,
  listWorkflows,
  getWorkflow,
  listNodes,
  getNode,
  listLocks,
  listQueues,
  getQueue,
  getQueueDetail,
  listErrors,
  getLeader,
  listHandlers,
  getCluster,
];

type ListedView = 'nodes' | 'locks' | 'queues' | 'workflows' | 'errors';

/** Rows of a small view in its order, as of now. */
function rowsIn<V extends ListedView>(board: Board, view: V, q?: string) {
  board.refresh();
  const followed = board.views.followRows(view, q === undefined ? {} : { q });
  const table = board.views.small(view);
  const rows = followed.list.slice(0, followed.list.size).flatMap(({ id }) => table.get(id) ?? []);
  followed.release();
  return rows;
}

function oneOf(board: Board, view: 'nodes' | 'queues', id: string, what: string): unknown {
  board.refresh();
  const row = board.views.small(view).get(id);
  if (row === undefined) throw new LeaseholdError('not-found', `there is no ${what} ${id}`, { id });
  return row;
}

function handlersOf(board: Board): HandlerList['handlers'] {
  const byName = new Map<string, { handler: HandlerInfo; nodes: string[]; queues: Set<string>; shapes: Set<number> }>();
  for (const { record } of board.state.liveNodes()) {
    for (const handler of record.handlers) {
      const known = byName.get(handler.name) ?? {
        handler,
        nodes: [],
        queues: new Set<string>(),
        shapes: new Set<number>(),
      };
      known.nodes.push(record.id);
      for (const { name } of record.queues) known.queues.add(name);
      known.shapes.add(handlerShape(handler));
      byName.set(handler.name, known);
    }
  }
  const handlers = [...byName.values()].map(({ handler, nodes, queues, shapes }) => {
    return { ...handlerView(handler), nodes, queues: [...queues].sort(), differing: shapes.size > 1 };
  });
  return handlers.sort((a, b) => (a.name < b.name ? -1 : 1));
}
