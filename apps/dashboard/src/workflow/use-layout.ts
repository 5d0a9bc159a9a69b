'use client';
import { useEffect, useState } from 'react';
import type { GraphShape, NodePlace } from './layout-shape';

/** Laid out off the main thread. The shape is given as text: states that change ask for no new layout. */
export function useLayout(shape: string): readonly NodePlace[] | undefined {
  const [done, setDone] = useState<{ readonly shape: string; readonly places: readonly NodePlace[] }>();
  useEffect(() => {
    let wanted = true;
    const graph = JSON.parse(shape) as GraphShape;
    const take = (places: readonly NodePlace[]): void => {
      if (wanted) setDone({ shape, places });
    };
    const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', (event: MessageEvent<readonly NodePlace[]>) => take(event.data));
    // A browser that starts no worker still shows the graph; it is at most 500 nodes.
    worker.addEventListener('error', () => {
      void import('./layout-nodes').then(({ placeNodes }) => take(placeNodes(graph)));
    });
    worker.postMessage(graph);
    return () => {
      wanted = false;
      worker.terminate();
    };
  }, [shape]);
  return done?.shape === shape ? done.places : undefined;
}
