/** Lays out one graph and answers once; the page never waits for it. */
import { placeNodes } from './layout-nodes';
import type { GraphShape, NodePlace } from './layout-shape';

self.addEventListener('message', (event: MessageEvent<GraphShape>) => {
  const places: readonly NodePlace[] = placeNodes(event.data);
  self.postMessage(places);
});
