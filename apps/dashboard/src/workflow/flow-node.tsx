'use client';
import type { WorkflowPictureNode } from '@leasehold/wire';
import type { TaskState } from '@leasehold/core/model';
import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { clsx } from 'clsx';
import { memo } from 'react';
import { useT } from '../i18n';
import { grouped } from '../look/number';
import { STATE_ORDER, TASK_LOOK } from '../look/state';
import { StackBar } from '../ui/stack-bar';
import { LookIcon } from '../ui/state-mark';

export type FlowNodeData = { readonly node: WorkflowPictureNode; readonly current: boolean };
export type FlowNode = Node<FlowNodeData, 'task'>;

/** The state that says most of a node: what went wrong, then what goes on, then what is done. */
const TELLING: readonly TaskState[] = [
  'FAILURE',
  'STARTED',
  'RETRY',
  'PENDING',
  'SCHEDULED',
  'WAITING',
  'CANCELLED',
  'SUCCESS',
];

export function tellingState({ states, count }: WorkflowPictureNode): TaskState | undefined {
  const found = TELLING.find((state) => (states[state] ?? 0) > 0);
  // Members that are not there yet are still to come: what has succeeded is not all.
  return found === 'SUCCESS' && (states.SUCCESS ?? 0) < count ? 'STARTED' : found;
}

/** `12 of 500 · 3 failed` for many, the state's word for one. */
export function useNodeText(): (node: WorkflowPictureNode) => string {
  const t = useT();
  return (node) => {
    const state = tellingState(node);
    if (node.count === 1) return t(state === undefined ? 'graph.planned' : TASK_LOOK[state].word);
    const { SUCCESS: done = 0, FAILURE: failed = 0 } = node.states;
    const text = t('graph.doneOf', { done: grouped(done), count: grouped(node.count) });
    return failed === 0 ? text : `${text} · ${t('graph.failed', { n: grouped(failed) })}`;
  };
}

/** Only where edges begin and end: nothing can be connected by hand. */
const HANDLE = 'opacity-0 border-0! size-0! min-h-0! min-w-0!';

export const FlowNodeView = memo(function FlowNodeView({ data }: NodeProps<FlowNode>) {
  const { node, current } = data;
  const text = useNodeText();
  const state = tellingState(node);
  const look = state === undefined ? undefined : TASK_LOOK[state];
  const known = STATE_ORDER.some((each) => (node.states[each] ?? 0) > 0);
  return (
    <div
      data-node={node.id}
      className={clsx(
        'bg-panel flex h-11 w-44 cursor-pointer items-center gap-2 rounded-lg border px-2.5',
        state === 'FAILURE' ? 'border-failure/60' : 'border-line2 hover:border-ink3',
        node.count > 1 && 'shadow-[3px_3px_0_-1px_var(--panel),3px_3px_0_0_var(--line2)]',
        current && 'border-accent! ring-accent/30 ring-2',
      )}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} className={HANDLE} />
      {look === undefined ? (
        <span className="text-2xs text-ink3 w-3.5 text-center">{node.index + 1}</span>
      ) : (
        <LookIcon look={look} />
      )}
      <span className="min-w-0 grow">
        <span className="block truncate text-xs leading-4 font-semibold">
          {node.name}
          {node.count > 1 && <span className="text-ink3 font-normal"> × {grouped(node.count)}</span>}
        </span>
        <span className="text-2xs text-ink3 block truncate leading-3.5">{text(node)}</span>
        {node.count > 1 && known && <StackBar states={node.states} height={3} />}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} className={HANDLE} />
    </div>
  );
});
