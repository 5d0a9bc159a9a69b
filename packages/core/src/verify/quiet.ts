/** The end of a history: nothing that was acknowledged is lost (I5), and when all work is done nothing is left over. */
import type { KeyKind } from '../model/keys.js';
import { isEnded, isWorkflowEnded } from '../model/state.js';
import type { Scene } from './scene.js';

/** A submission as its submitter was told. */
export interface Acknowledged {
  readonly kind: 'task' | 'workflow';
  readonly id: string;
}

/** I5. Records that retention has removed since are to be left out. */
export function checkAcknowledged({ view, report }: Scene, acknowledged: readonly Acknowledged[]): void {
  for (const { kind, id } of acknowledged) {
    const key = kind === 'task' ? view.keys.task(id) : view.keys.workflow(id);
    if (view.get(key) === undefined) report('I5', [key], `${kind} ${id} was acknowledged and is not there`);
  }
}

/** What belongs to live tasks and workflows only. */
const TRANSIENT: ReadonlySet<KeyKind> = new Set<KeyKind>([
  'locks',
  'ready',
  'due',
  'deadlines',
  'slots',
  'unique',
  'joins',
  'barriers',
  'chores',
  'staged',
]);

/** Everything has ended: no live record, no entry, no lock. */
export function checkQuiet({ view, report }: Scene): void {
  for (const kv of view.all()) {
    const parsed = view.keys.parse(kv.key);
    if (parsed === undefined) continue;
    if (parsed.kind === 'tasks') {
      const task = view.taskOf(kv);
      if (task !== undefined && !isEnded(task.state))
        report('I5', [kv.key], `${task.id} never ended: it is ${task.state}`);
    } else if (parsed.kind === 'workflows') {
      const workflow = view.workflowOf(kv);
      if (workflow !== undefined && !isWorkflowEnded(workflow.state)) {
        report('I5', [kv.key], `workflow ${workflow.id} never ended: it is ${workflow.state}`);
      }
    } else if (TRANSIENT.has(parsed.kind)) report('I1', [kv.key], 'left over after everything has ended');
  }
}
