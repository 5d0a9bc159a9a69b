/** Where dagre puts the boxes of a graph. Pure; runs in a worker, and where there is none in the page. */
import { graphlib, layout } from '@dagrejs/dagre';
import { NODE_HEIGHT_PX, NODE_WIDTH_PX, type GraphShape, type NodePlace } from './layout-shape';

export function placeNodes({ ids, edges }: GraphShape): readonly NodePlace[] {
  const graph = new graphlib.Graph({ multigraph: false });
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 52, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH_PX, height: NODE_HEIGHT_PX });
  for (const [from, to] of edges) graph.setEdge(from, to);
  layout(graph);
  return ids.map((id) => {
    const { x = 0, y = 0 } = graph.node(id) as { readonly x?: number; readonly y?: number };
    return { id, x: x - NODE_WIDTH_PX / 2, y: y - NODE_HEIGHT_PX / 2 };
  });
}
