'use client';
import { clsx } from 'clsx';
import {
  ArrowDown,
  CircleAlert,
  Columns3,
  Link2,
  ListTree,
  Square,
  TriangleAlert,
  type LucideIcon,
} from 'lucide-react';
import { useEffect, useRef, type Dispatch, type KeyboardEvent } from 'react';
import { useT } from '../i18n';
import { isWarning, type Problem } from './build';
import { isCallback, places, type BoxKind, type Place } from './draft';
import type { Built, Edit } from './edit';

export const KIND_ICON: Readonly<Record<BoxKind | 'task', LucideIcon>> = {
  task: Square,
  chain: Link2,
  group: Columns3,
  chord: ListTree,
};

interface Props {
  readonly built: Built;
  readonly problems: readonly Problem[];
  readonly dispatch: Dispatch<Edit>;
}

function editOf(event: KeyboardEvent, key: number): Edit | null {
  if (event.altKey) {
    switch (event.key) {
      case 'ArrowUp':
        return { do: 'move', key, by: -1 };
      case 'ArrowDown':
        return { do: 'move', key, by: 1 };
      case 'ArrowRight':
        return { do: 'nest', key };
      case 'ArrowLeft':
        return { do: 'unnest', key };
      default:
        return null;
    }
  }
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() === 'z') return { do: event.shiftKey ? 'redo' : 'undo' };
    return event.key.toLowerCase() === 'y' ? { do: 'redo' } : null;
  }
  switch (event.key) {
    case 'ArrowUp':
      return { do: 'step', by: -1 };
    case 'ArrowDown':
      return { do: 'step', by: 1 };
    case 'a':
      return { do: 'add', what: 'task' };
    case 'c':
      return { do: 'add', what: 'chain' };
    case 'g':
      return { do: 'add', what: 'group' };
    case 'o':
      return { do: 'add', what: 'chord' };
    case 'd':
      return { do: 'duplicate', key };
    case 'Delete':
    case 'Backspace':
      return { do: 'remove', key };
    default:
      return null;
  }
}

/** The tree as it will run, for hands on the keyboard. Focus follows what is chosen. */
export function Outline({ built, problems, dispatch }: Props) {
  const t = useT();
  const tree = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (tree.current?.contains(document.activeElement))
      tree.current.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }, [built.chosen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const edit = editOf(event, built.chosen);
    if (edit === null) return;
    event.preventDefault();
    event.stopPropagation();
    dispatch(edit);
  };
  return (
    <div
      ref={tree}
      role="tree"
      aria-label={t('builder.outline')}
      onKeyDown={onKeyDown}
      className="flex flex-col gap-px py-2"
    >
      {places(built.root).map((place) => (
        <Row
          key={place.draft.key}
          place={place}
          chosen={place.draft.key === built.chosen}
          problems={problems.filter((problem) => problem.key === place.draft.key)}
          onChoose={() => dispatch({ do: 'choose', key: place.draft.key })}
        />
      ))}
    </div>
  );
}

function Row({
  place,
  chosen,
  problems,
  onChoose,
}: {
  place: Place;
  chosen: boolean;
  problems: readonly Problem[];
  onChoose: () => void;
}) {
  const t = useT();
  const { draft, depth, parent, index } = place;
  const Icon = KIND_ICON[draft.kind];
  const bad = problems.some((problem) => !isWarning(problem));
  return (
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={chosen}
      aria-expanded={draft.kind === 'task' ? undefined : true}
      tabIndex={chosen ? 0 : -1}
      onClick={onChoose}
      onFocus={onChoose}
      style={{ paddingLeft: 8 + depth * 22 }}
      className={clsx(
        'flex h-9 cursor-pointer items-center gap-2 rounded-md pr-2 outline-offset-[-2px]',
        chosen ? 'bg-accent/13' : 'hover:bg-ink/4',
      )}
    >
      <span className="text-2xs text-ink3 w-4 shrink-0 text-right">
        {parent?.kind === 'chain' ? (
          index + 1
        ) : isCallback(place) ? (
          <ArrowDown className="inline size-3" aria-hidden />
        ) : (
          ''
        )}
      </span>
      <Icon className={clsx('size-3.5 shrink-0', draft.kind === 'task' ? 'text-ink3' : 'text-accent')} aria-hidden />
      {draft.kind === 'task' ? (
        <span className="min-w-0 grow truncate">
          <b className={clsx('font-semibold', draft.name === '' && 'text-ink3 font-normal')}>
            {draft.name === '' ? t('builder.unnamed') : draft.name}
          </b>
          {draft.texts.some((text) => text !== '') && (
            <span className="text-ink3 ml-1.5 font-mono text-xs">
              ({draft.texts.filter((text) => text !== '').join(', ')})
            </span>
          )}
        </span>
      ) : (
        <span className="min-w-0 grow truncate">
          <b className="font-semibold">{t(`flow.kind.${draft.kind}`)}</b>
          <span className="text-ink3 ml-1.5 text-xs">{t(`builder.kindNote.${draft.kind}`)}</span>
        </span>
      )}
      {isCallback(place) && <span className="text-2xs text-ink3 shrink-0">{t('builder.callback')}</span>}
      {problems.length > 0 &&
        (bad ? (
          <CircleAlert className="text-failure size-3.5 shrink-0" aria-label={t('builder.hasProblem')} />
        ) : (
          <TriangleAlert className="text-retry size-3.5 shrink-0" aria-label={t('builder.hasWarning')} />
        ))}
    </div>
  );
}
