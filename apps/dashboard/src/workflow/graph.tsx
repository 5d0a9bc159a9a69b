'use client';
import type { TaskState } from '@leasehold/core/model';
import { clsx } from 'clsx';
import Link from 'next/link';
import { useMemo } from 'react';
import { useT } from '../i18n';
import { TASK_LOOK } from '../look/state';
import { LookIcon } from '../ui/state-mark';
import { layoutGraph } from './layout';

export interface GraphNode {
  readonly index: number;
  readonly name: string;
  readonly after: readonly number[];
  readonly note?: string;
  readonly state?: TaskState;
  readonly href?: string;
  readonly chosen?: boolean;
}

const WIDTH = 156;
const HEIGHT = 42;
const GAP_X = 44;
const GAP_Y = 12;

/** Boxes from left to right in the order in which they can run; an edge takes the colour of what it comes from. */
export function Graph({
  nodes,
  label,
  onPick,
}: {
  nodes: readonly GraphNode[];
  label: string;
  onPick?: (index: number) => void;
}) {
  const layout = useMemo(() => layoutGraph(nodes), [nodes]);
  const byIndex = useMemo(() => new Map(nodes.map((node) => [node.index, node])), [nodes]);
  const x = (column: number): number => column * (WIDTH + GAP_X);
  const y = (row: number): number => row * (HEIGHT + GAP_Y);
  const width = layout.columns * (WIDTH + GAP_X) - GAP_X;
  const height = layout.rows * (HEIGHT + GAP_Y) - GAP_Y;
  return (
    <div className="overflow-auto py-3" role="group" aria-label={label} tabIndex={0}>
      <div className="relative" style={{ width, height }}>
        <svg width={width} height={height} className="absolute inset-0" aria-hidden>
          {layout.edges.map(([from, to]) => {
            const a = layout.places.get(from);
            const b = layout.places.get(to);
            if (a === undefined || b === undefined) return null;
            const x1 = x(a.column) + WIDTH;
            const y1 = y(a.row) + HEIGHT / 2;
            const x2 = x(b.column);
            const y2 = y(b.row) + HEIGHT / 2;
            const bend = Math.min(40, (x2 - x1) / 2);
            const state = byIndex.get(from)?.state;
            return (
              <path
                key={`${from}-${to}`}
                d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
                fill="none"
                strokeWidth={1.25}
                className={state === 'SUCCESS' || state === 'FAILURE' ? TASK_LOOK[state].stroke : 'stroke-line2'}
              />
            );
          })}
        </svg>
        {nodes.map((node) => {
          const place = layout.places.get(node.index);
          if (place === undefined) return null;
          return <Box key={node.index} node={node} left={x(place.column)} top={y(place.row)} onPick={onPick} />;
        })}
      </div>
    </div>
  );
}

function Box({
  node,
  left,
  top,
  onPick,
}: {
  node: GraphNode;
  left: number;
  top: number;
  onPick: ((index: number) => void) | undefined;
}) {
  const t = useT();
  const look = node.state === undefined ? undefined : TASK_LOOK[node.state];
  const style = { left, top, width: WIDTH, height: HEIGHT };
  const className = clsx(
    'bg-panel absolute flex items-center gap-2 rounded-lg border px-2.5 text-left',
    node.chosen === true ? 'border-accent ring-accent/25 ring-2' : 'border-line2 hover:border-ink3',
    node.state === 'FAILURE' && 'border-failure/60',
  );
  const inside = (
    <>
      {look === undefined ? (
        <span className="text-2xs text-ink3 w-3.5 text-center">{node.index + 1}</span>
      ) : (
        <LookIcon look={look} />
      )}
      <span className="min-w-0 grow">
        <span className="block truncate text-xs leading-4 font-semibold">{node.name}</span>
        <span className="text-2xs text-ink3 block truncate leading-3.5">
          {node.note ?? (look === undefined ? '' : t(look.word))}
        </span>
      </span>
    </>
  );
  if (node.href !== undefined) {
    return (
      <Link href={node.href} style={style} className={className}>
        {inside}
      </Link>
    );
  }
  return (
    <button type="button" style={style} className={className} onClick={() => onPick?.(node.index)}>
      {inside}
    </button>
  );
}
