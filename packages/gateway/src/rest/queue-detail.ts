/** One queue, task name by task name. What ended is not counted: it waits for nobody. */
import type { QueueDetail, SettingsView } from '@leasehold/wire';
import { isEnded, LeaseholdError, TASK_STATES, type Settings } from '@leasehold/core/model';
import type { Kept } from '../projection/kept.js';
import type { BoardView } from '../projection/board-view.js';

/** Names shown; further ones are counted. */
const NAMES = 200;

export function queueDetail(board: BoardView, queue: string, nowMs: number): QueueDetail {
  board.refresh();
  const row = board.views.small('queues').get(queue);
  if (row === undefined) throw new LeaseholdError('not-found', `there is no queue ${queue}`, { id: queue });
  const { state, facts } = board;
  const counts = liveCounts(board, queue);
  const serving = facts.nodes().filter((node) => node.queues.has(queue));
  for (const { record } of state.liveNodes()) {
    for (const handler of record.handlers)
      if (handler.queue === queue && !counts.has(handler.name)) counts.set(handler.name, {});
  }
  const names = [...counts].map(([name, states]) => {
    const run = state.traffic.nameRun.percentiles(name);
    return {
      name,
      states,
      nodes: serving.filter((node) => node.names.has(name)).map(({ id }) => id),
      settings: settingsView(state.names.get(name)),
      ...(run === undefined ? {} : { run }),
    };
  });
  const total = (states: Readonly<Record<string, number>>): number =>
    Object.values(states).reduce((sum, n) => sum + n, 0);
  names.sort((a, b) => total(b.states) - total(a.states) || (a.name < b.name ? -1 : 1));
  return {
    revision: board.revision,
    names: names.slice(0, NAMES),
    more: Math.max(0, names.length - NAMES),
    everything: settingsView(state.all),
    ended: state.traffic.queueEnded.series(queue, nowMs),
  };
}

function liveCounts({ state }: BoardView, queue: string): Map<string, Record<string, number>> {
  const counts = new Map<string, Record<string, number>>();
  for (const each of TASK_STATES) {
    if (isEnded(each)) continue;
    for (const task of state.counts.byState[each].values()) {
      if (task.queue !== queue) continue;
      const states = counts.get(task.name) ?? {};
      states[each] = (states[each] ?? 0) + 1;
      counts.set(task.name, states);
    }
  }
  return counts;
}

function settingsView(kept: Kept<Settings> | undefined): SettingsView {
  const { paused, concurrency, rate } = kept?.record ?? {};
  return {
    revision: kept?.revision ?? '0',
    ...(paused === undefined ? {} : { paused }),
    ...(concurrency === undefined ? {} : { limit: concurrency }),
    ...(rate === undefined ? {} : { rate: { count: rate.count, intervalMs: rate.intervalMs } }),
  };
}
