'use client';
/**
 * The graph of a workflow. Where the boxes stand is computed once for a shape, in a worker; what happens afterwards only
 * changes what is written in them. Nodes outside the view are not in the page, so the keyboard has one place to stand:
 * arrows follow the edges, Enter opens. Everything that it shows is also in the list below it.
 */
import '@xyflow/react/dist/base.css';
import type { WorkflowPicture, WorkflowPictureNode } from '@leasehold/wire';
import {
  Background,
  Controls,
  MiniMap,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type Edge,
} from '@xyflow/react';
import { clsx } from 'clsx';
import { useRouter } from 'next/navigation';
import { useMemo, useState } from 'react';
import { useKeys } from '../frame/shortcuts';
import { useT } from '../i18n';
import { TASK_LOOK } from '../look/state';
import { Loading } from '../ui/states';
import { FlowNodeView, tellingState, useNodeText, type FlowNode } from './flow-node';
import { NODE_HEIGHT_PX, NODE_WIDTH_PX, type NodePlace } from './layout-shape';
import { nextNode, type Arrow } from './steer';
import { useLayout } from './use-layout';

interface Props {
  readonly picture: WorkflowPicture;
  readonly workflowId: string;
}

const NODE_TYPES = { task: FlowNodeView };
const MINIMAP_FROM = 40;
const MIN_HEIGHT_PX = 120;
const MAX_HEIGHT_PX = 440;

export function FlowGraph(props: Props) {
  const shape = JSON.stringify({ ids: props.picture.nodes.map(({ id }) => id), edges: props.picture.edges });
  const places = useLayout(shape);
  if (places === undefined) return <Loading rows={2} />;
  return (
    <ReactFlowProvider>
      <Drawn {...props} places={places} />
    </ReactFlowProvider>
  );
}

function hrefOf(node: WorkflowPictureNode, workflowId: string): string {
  return node.taskId === undefined
    ? `/tasks?name=${encodeURIComponent(node.name)}&workflow=${encodeURIComponent(workflowId)}`
    : `/tasks/${encodeURIComponent(node.taskId)}`;
}

type MakeNodes = (
  nodes: readonly WorkflowPictureNode[],
  places: readonly NodePlace[],
  current: string | null,
) => FlowNode[];

/** Gives the same object for a node in which nothing changed: only the others are drawn again. */
function rememberNodes(): MakeNodes {
  const kept = new Map<string, { readonly text: string; readonly node: FlowNode }>();
  return (nodes, places, current) => {
    const at = new Map(places.map((place) => [place.id, place]));
    return nodes.map((node) => {
      const place = at.get(node.id);
      const text = JSON.stringify([node, place, node.id === current]);
      const known = kept.get(node.id);
      if (known?.text === text) return known.node;
      const made = flowNode(node, place, node.id === current);
      kept.set(node.id, { text, node: made });
      return made;
    });
  };
}

function flowNode(node: WorkflowPictureNode, place: NodePlace | undefined, current: boolean): FlowNode {
  return {
    id: node.id,
    type: 'task',
    position: { x: place?.x ?? 0, y: place?.y ?? 0 },
    width: NODE_WIDTH_PX,
    height: NODE_HEIGHT_PX,
    data: { node, current },
    handles: [
      { type: 'target', position: Position.Left, x: 0, y: NODE_HEIGHT_PX / 2 },
      { type: 'source', position: Position.Right, x: NODE_WIDTH_PX, y: NODE_HEIGHT_PX / 2 },
    ],
  };
}

function edgesOf({ nodes, edges }: WorkflowPicture): Edge[] {
  const states = new Map(nodes.map((node) => [node.id, tellingState(node)]));
  return edges.map(([source, target]) => {
    const state = states.get(source);
    const told = state === 'SUCCESS' || state === 'FAILURE';
    return { id: `${source} ${target}`, source, target, className: clsx('flow-edge', told && TASK_LOOK[state].text) };
  });
}

const ARROWS: Readonly<Record<string, Arrow>> = {
  ArrowRight: 'after',
  ArrowLeft: 'before',
  ArrowDown: 'below',
  ArrowUp: 'above',
};

function Drawn({ picture, workflowId, places }: Props & { places: readonly NodePlace[] }) {
  const t = useT();
  const router = useRouter();
  const text = useNodeText();
  const { setCenter, getZoom } = useReactFlow();
  const [current, setCurrent] = useState<string | null>(null);
  const [makeNodes] = useState(rememberNodes);
  const nodes = useMemo(() => makeNodes(picture.nodes, places, current), [makeNodes, picture.nodes, places, current]);
  const edges = useMemo(() => edgesOf(picture), [picture]);
  const chosen = picture.nodes.find((node) => node.id === current);
  const open = (node: WorkflowPictureNode): void => router.push(hrefOf(node, workflowId));
  useKeys((key, { target }) => {
    if (!(target instanceof Element) || !target.matches('[data-flow]')) return false;
    const arrow = ARROWS[key];
    if (key === 'Enter' && chosen !== undefined) open(chosen);
    else if (arrow === undefined) return false;
    else {
      const next = nextNode(places, picture.edges, current, arrow);
      const place = places.find(({ id }) => id === next);
      setCurrent(next);
      if (place !== undefined)
        void setCenter(place.x + NODE_WIDTH_PX / 2, place.y + NODE_HEIGHT_PX / 2, { zoom: Math.max(0.6, getZoom()) });
    }
    return true;
  });
  const bottom = Math.max(...places.map(({ y }) => y + NODE_HEIGHT_PX));
  return (
    <div
      role="group"
      data-flow
      tabIndex={0}
      aria-label={t('graph.label', { n: picture.nodes.length })}
      aria-describedby="graph-help"
      className="border-line mt-2 overflow-hidden rounded-lg border"
      style={{ height: Math.min(MAX_HEIGHT_PX, Math.max(MIN_HEIGHT_PX, bottom + 24)) }}
    >
      <p id="graph-help" className="sr-only">
        {t('graph.help')}
      </p>
      <p role="status" className="sr-only">
        {chosen === undefined ? '' : `${chosen.name}: ${text(chosen)}`}
      </p>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        fitView
        fitViewOptions={{ maxZoom: 1, minZoom: 0.35, padding: 0.06 }}
        minZoom={0.15}
        maxZoom={1.5}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_event, node) => open(node.data.node)}
        className="flow"
      >
        <Background gap={18} size={1} color="var(--line)" />
        <Controls showInteractive={false} position="bottom-right" />
        {picture.nodes.length >= MINIMAP_FROM && <MiniMap pannable ariaLabel={null} position="top-right" />}
      </ReactFlow>
    </div>
  );
}
