/**
 * A workflow while it is being built: a tree of drafts, and edits that give a new tree. Pure. A chord is a box whose last
 * item is its callback, so that moving, nesting and undoing need no rule of their own for it.
 */
import type { FailurePolicy } from '@leasehold/core/model';

export interface TaskDraft {
  readonly key: number;
  readonly kind: 'task';
  readonly name: string;
  /** What was typed for each argument. */
  readonly texts: readonly string[];
  /** Its results are not handed on; on a chord's callback: it does not take the group's. */
  readonly immutable: boolean;
  readonly queue: string;
  readonly retries: string;
}

export type BoxKind = 'chain' | 'group' | 'chord';

export interface BoxDraft {
  readonly key: number;
  readonly kind: BoxKind;
  readonly items: readonly Draft[];
  readonly onFailure: FailurePolicy;
  /** Empty: no limit. */
  readonly concurrency: string;
}

export type Draft = TaskDraft | BoxDraft;

export interface Place {
  readonly draft: Draft;
  readonly depth: number;
  readonly parent: BoxDraft | undefined;
  readonly index: number;
}

export function newTask(key: number, name = ''): TaskDraft {
  return { key, kind: 'task', name, texts: [], immutable: false, queue: '', retries: '' };
}

export function newBox(key: number, kind: BoxKind, items: readonly Draft[] = []): BoxDraft {
  return { key, kind, items, onFailure: 'stop', concurrency: '' };
}

/** Depth first: the order in which the outline shows them. */
export function places(draft: Draft, depth = 0, parent?: BoxDraft, index = 0): readonly Place[] {
  const here: Place = { draft, depth, parent, index };
  if (draft.kind === 'task') return [here];
  return [here, ...draft.items.flatMap((item, i) => places(item, depth + 1, draft, i))];
}

export function findPlace(root: BoxDraft, key: number): Place | undefined {
  return places(root).find(({ draft }) => draft.key === key);
}

export function isCallback({ parent, index }: Place): boolean {
  return parent?.kind === 'chord' && parent.items.length > 1 && index === parent.items.length - 1;
}

/** The tree with one draft replaced by what `change` makes of it. */
export function replaced(root: BoxDraft, key: number, change: (draft: Draft) => Draft): BoxDraft {
  const walk = (draft: Draft): Draft => {
    if (draft.key === key) return change(draft);
    return draft.kind === 'task' ? draft : { ...draft, items: draft.items.map(walk) };
  };
  const next = walk(root);
  return next.kind === 'task' ? root : next;
}

function withItems(root: BoxDraft, box: number, items: (old: readonly Draft[]) => readonly Draft[]): BoxDraft {
  return replaced(root, box, (draft) => (draft.kind === 'task' ? draft : { ...draft, items: items(draft.items) }));
}

/** Behind the chosen task, or at the end of the chosen box. In a chord: before its callback, which stays last. */
export function inserted(root: BoxDraft, chosen: number, draft: Draft): BoxDraft {
  const place = findPlace(root, chosen) ?? findPlace(root, root.key);
  if (place === undefined) return root;
  if (place.draft.kind !== 'task') {
    const { kind, key } = place.draft;
    return withItems(root, key, (old) =>
      kind === 'chord' && old.length > 1 ? old.toSpliced(-1, 0, draft) : [...old, draft],
    );
  }
  const { parent, index } = place;
  return parent === undefined ? root : withItems(root, parent.key, (old) => old.toSpliced(index + 1, 0, draft));
}

export function removed(root: BoxDraft, key: number): BoxDraft {
  const parent = findPlace(root, key)?.parent;
  return parent === undefined ? root : withItems(root, parent.key, (old) => old.filter((item) => item.key !== key));
}

export function moved(root: BoxDraft, key: number, by: 1 | -1): BoxDraft {
  const place = findPlace(root, key);
  const to = (place?.index ?? 0) + by;
  if (place?.parent === undefined || to < 0 || to >= place.parent.items.length) return root;
  return withItems(root, place.parent.key, (old) => old.toSpliced(place.index, 1).toSpliced(to, 0, place.draft));
}

/** Into the box above it; a task above becomes, with it, a box of the other direction. */
export function nested(root: BoxDraft, key: number, boxKey: number): BoxDraft {
  const place = findPlace(root, key);
  const above = place?.parent?.items[place.index - 1];
  if (place?.parent === undefined || above === undefined) return root;
  const box =
    above.kind === 'task'
      ? newBox(boxKey, place.parent.kind === 'chain' ? 'group' : 'chain', [above, place.draft])
      : { ...above, items: [...above.items, place.draft] };
  return withItems(root, place.parent.key, (old) => old.toSpliced(place.index - 1, 2, box));
}

/** Out of its box, to stand behind it. A box that is left empty goes away. */
export function unnested(root: BoxDraft, key: number): BoxDraft {
  const place = findPlace(root, key);
  const box = place?.parent;
  const outer = box === undefined ? undefined : findPlace(root, box.key)?.parent;
  if (place === undefined || box === undefined || outer === undefined) return root;
  const left = { ...box, items: box.items.filter((item) => item.key !== key) };
  const at = outer.items.findIndex((item) => item.key === box.key);
  return withItems(root, outer.key, (old) =>
    old.toSpliced(at, 1, ...(left.items.length === 0 ? [] : [left]), place.draft),
  );
}

/** A copy with keys of its own, from `next` on. */
export function copyOf(draft: Draft, next: number): { readonly draft: Draft; readonly next: number } {
  if (draft.kind === 'task') return { draft: { ...draft, key: next }, next: next + 1 };
  let free = next + 1;
  const items = draft.items.map((item) => {
    const copy = copyOf(item, free);
    free = copy.next;
    return copy.draft;
  });
  return { draft: { ...draft, key: next, items }, next: free };
}

export function countTasks(draft: Draft): number {
  return draft.kind === 'task' ? 1 : draft.items.reduce((sum, item) => sum + countTasks(item), 0);
}
