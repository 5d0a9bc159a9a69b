/** What differs between two boards. Pure. */
import type { TaskState } from '@leasehold/core/model';
import { DIFFERENCE_ROWS, type Difference, type Moment, type TaskDifference } from '@leasehold/wire';
import type { BoardState } from '../projection/state.js';
import type { TaskEntry } from '../projection/task-entry.js';

interface Side {
  readonly state: BoardState;
  readonly moment: Moment;
}

interface Found {
  readonly row: TaskDifference;
  /** Revision of its later side: by it the latest stand first. */
  readonly revision: bigint;
}

export function differenceOf(from: Side, to: Side): Difference {
  const counts = { appeared: 0, changed: 0, vanished: 0, same: 0 };
  const moves = new Map<string, { from?: TaskState; to?: TaskState; count: number }>();
  const found: Found[] = [];
  const note = (before: TaskEntry | undefined, after: TaskEntry | undefined): void => {
    if (before?.revision === after?.revision) {
      counts.same++;
      return;
    }
    const kind = before === undefined ? 'appeared' : after === undefined ? 'vanished' : 'changed';
    counts[kind]++;
    const sides = {
      ...(before === undefined ? {} : { from: before.state }),
      ...(after === undefined ? {} : { to: after.state }),
    };
    const move = `${before?.state ?? ''} ${after?.state ?? ''}`;
    const known = moves.get(move);
    if (known === undefined) moves.set(move, { ...sides, count: 1 });
    else known.count++;
    const { id, name, queue, revision } = (after ?? before) as TaskEntry;
    found.push({ row: { id, name, queue, kind, ...sides }, revision: BigInt(revision) });
  };
  for (const before of from.state.tasks.values()) note(before, to.state.tasks.get(before.id));
  for (const after of to.state.tasks.values()) if (from.state.tasks.get(after.id) === undefined) note(undefined, after);
  found.sort((a, b) => (a.revision < b.revision ? 1 : a.revision > b.revision ? -1 : a.row.id < b.row.id ? -1 : 1));
  return {
    from: from.moment,
    to: to.moment,
    ...counts,
    moves: [...moves.values()].sort((a, b) => b.count - a.count),
    tasks: found.slice(0, DIFFERENCE_ROWS).map(({ row }) => row),
    ...surroundings(from.state, to.state),
  };
}

type Surroundings = Pick<Difference, 'nodesArrived' | 'nodesLeft' | 'queuesPaused' | 'queuesResumed' | 'leaders'>;

function surroundings(from: BoardState, to: BoardState): Surroundings {
  const nodes = (state: BoardState) => new Set(state.liveNodes().map(({ record }) => record.id));
  const paused = (state: BoardState) =>
    new Set([...state.queues].filter(([, { record }]) => record.paused !== undefined).map(([name]) => name));
  const [nodesBefore, nodesAfter] = [nodes(from), nodes(to)];
  const [pausedBefore, pausedAfter] = [paused(from), paused(to)];
  return {
    nodesArrived: only(nodesAfter, nodesBefore),
    nodesLeft: only(nodesBefore, nodesAfter),
    queuesPaused: only(pausedAfter, pausedBefore),
    queuesResumed: only(pausedBefore, pausedAfter),
    leaders: [from.leader?.node ?? null, to.leader?.node ?? null],
  };
}

function only(these: ReadonlySet<string>, notThose: ReadonlySet<string>): string[] {
  return [...these].filter((each) => !notThose.has(each)).sort();
}
