/** Where the keyboard goes from a node. Pure. */
import type { NodePlace } from './layout-shape';

export type Arrow = 'after' | 'before' | 'above' | 'below';

/** Along an edge to the nearest end; up and down within a column. From nowhere: to the first. Stays where there is no way on. */
export function nextNode(
  places: readonly NodePlace[],
  edges: readonly (readonly [from: string, to: string])[],
  current: string | null,
  arrow: Arrow,
): string | null {
  const here = places.find(({ id }) => id === current);
  if (here === undefined) return firstOf(places)?.id ?? null;
  const near = (a: NodePlace, b: NodePlace): number => Math.abs(a.y - here.y) - Math.abs(b.y - here.y);
  if (arrow === 'after' || arrow === 'before') {
    const ids = new Set(
      edges.flatMap(([from, to]) =>
        arrow === 'after' ? (from === current ? [to] : []) : to === current ? [from] : [],
      ),
    );
    return places.filter(({ id }) => ids.has(id)).toSorted(near)[0]?.id ?? current;
  }
  const column = places.filter(
    ({ id, x, y }) => id !== current && x === here.x && (arrow === 'below' ? y > here.y : y < here.y),
  );
  return column.toSorted(near)[0]?.id ?? current;
}

function firstOf(places: readonly NodePlace[]): NodePlace | undefined {
  return places.toSorted((a, b) => a.x - b.x || a.y - b.y)[0];
}
