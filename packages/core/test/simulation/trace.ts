/** What happened, a line a change: for looking into a failing seed. */
import type { View } from '../../src/verify/view.js';

export function traceLines(view: View): string[] {
  const lines: string[] = [];
  for (const kind of TRACED) {
    for (const { key, before, after } of view.changesOf(kind)) {
      const short = key.slice(view.keys.prefix.length);
      const text =
        kind === 'tasks' ? taskText(after?.value) : after === undefined ? '-' : `+ ${after.value.slice(0, 300)}`;
      lines.push(`${view.revision} ${short} ${before === undefined ? 'new ' : ''}${text}`);
    }
  }
  return lines;
}

const TRACED = [
  'tasks',
  'locks',
  'workflows',
  'joins',
  'barriers',
  'failures',
  'chores',
  'slots',
  'unique',
  'schedules',
  'fires',
  'leader',
  'nodes',
  'queues',
  'names',
  'all',
  'epoch',
  'staged',
  'audit',
] as const;

function taskText(value: string | undefined): string {
  if (value === undefined) return '-';
  const task = JSON.parse(value) as Record<string, unknown>;
  const asked = task['cancel_requested'] === undefined ? '' : ` asked ${JSON.stringify(task['cancel_requested'])}`;
  const place = task['workflow'] === undefined ? '' : ` ${JSON.stringify(task['workflow'])}`;
  return `${String(task['status'])} "${String(task['cause'])}" by ${String(task['by'])} attempt ${JSON.stringify(task['attempt'] ?? 0)}${asked}${place}`;
}
