/** The builder's state and its history: tagged edits, one reducer. Pure. */
import {
  copyOf,
  findPlace,
  inserted,
  moved,
  nested,
  newBox,
  newTask,
  places,
  removed,
  replaced,
  unnested,
  type BoxDraft,
  type BoxKind,
  type Draft,
} from './draft';

export interface Built {
  readonly root: BoxDraft;
  readonly chosen: number;
  readonly nextKey: number;
}

export interface BuilderState {
  readonly past: readonly Built[];
  readonly now: Built;
  readonly future: readonly Built[];
}

export type Edit =
  | { readonly do: 'choose'; readonly key: number }
  | { readonly do: 'step'; readonly by: 1 | -1 }
  | { readonly do: 'add'; readonly what: 'task' | BoxKind; readonly name?: string }
  | { readonly do: 'change'; readonly key: number; readonly change: (draft: Draft) => Draft }
  | { readonly do: 'remove' | 'duplicate' | 'nest' | 'unnest'; readonly key: number }
  | { readonly do: 'move'; readonly key: number; readonly by: 1 | -1 }
  | { readonly do: 'load'; readonly root: BoxDraft; readonly nextKey: number }
  | { readonly do: 'undo' }
  | { readonly do: 'redo' };

const KEPT = 200;

export function startState(kind: BoxKind = 'chain'): BuilderState {
  return { past: [], now: { root: newBox(0, kind), chosen: 0, nextKey: 1 }, future: [] };
}

export function edited(state: BuilderState, edit: Edit): BuilderState {
  const { past, now, future } = state;
  if (edit.do === 'undo') {
    const before = past.at(-1);
    return before === undefined ? state : { past: past.slice(0, -1), now: before, future: [now, ...future] };
  }
  if (edit.do === 'redo') {
    const [after, ...rest] = future;
    return after === undefined ? state : { past: [...past, now], now: after, future: rest };
  }
  const next = applied(now, edit);
  if (next === now) return state;
  // Looking at another step is nothing to undo.
  if (next.root === now.root) return { ...state, now: next };
  return { past: [...past.slice(-KEPT), now], now: next, future: [] };
}

function applied(built: Built, edit: Exclude<Edit, { readonly do: 'undo' | 'redo' }>): Built {
  const { root, chosen, nextKey } = built;
  const changed = (to: BoxDraft, part: Partial<Built> = {}): Built =>
    to === root ? built : { ...built, root: to, ...part };
  switch (edit.do) {
    case 'choose':
      return edit.key === chosen ? built : { ...built, chosen: edit.key };
    case 'step':
      return stepped(built, edit.by);
    case 'add': {
      const draft = edit.what === 'task' ? newTask(nextKey, edit.name) : newBox(nextKey, edit.what);
      return changed(inserted(root, chosen, draft), { chosen: nextKey, nextKey: nextKey + 1 });
    }
    case 'change':
      return changed(replaced(root, edit.key, edit.change));
    case 'remove':
      return changed(removed(root, edit.key), { chosen: neighbour(root, edit.key) });
    case 'duplicate': {
      const place = findPlace(root, edit.key);
      if (place?.parent === undefined) return built;
      const copy = copyOf(place.draft, nextKey);
      const { parent, index } = place;
      const to = replaced(root, parent.key, (box) =>
        box.kind === 'task' ? box : { ...box, items: box.items.toSpliced(index + 1, 0, copy.draft) },
      );
      return changed(to, { chosen: copy.draft.key, nextKey: copy.next });
    }
    case 'nest':
      return changed(nested(root, edit.key, nextKey), { nextKey: nextKey + 1 });
    case 'unnest':
      return changed(unnested(root, edit.key));
    case 'move':
      return changed(moved(root, edit.key, edit.by));
    case 'load':
      return { root: edit.root, chosen: edit.root.key, nextKey: edit.nextKey };
  }
}

function stepped(built: Built, by: 1 | -1): Built {
  const all = places(built.root);
  const at = all.findIndex(({ draft }) => draft.key === built.chosen);
  const next = all[Math.min(all.length - 1, Math.max(0, at + by))]?.draft.key;
  return next === undefined || next === built.chosen ? built : { ...built, chosen: next };
}

/** What is chosen when this goes away: the one behind it, else before it, else its box. */
function neighbour(root: BoxDraft, key: number): number {
  const place = findPlace(root, key);
  const items = place?.parent?.items ?? [];
  const next = items[(place?.index ?? 0) + 1] ?? items[(place?.index ?? 0) - 1];
  return next?.key ?? place?.parent?.key ?? root.key;
}
