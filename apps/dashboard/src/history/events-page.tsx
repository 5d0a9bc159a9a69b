'use client';
import type { StreamEvent, StreamGroup } from '@leasehold/wire';
import { KEY_KINDS } from '@leasehold/core/model';
import { clsx } from 'clsx';
import { Pause, Play, Radio } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { useState } from 'react';
import { problemText } from '../api/acting';
import { useT } from '../i18n';
import { bytesText, grouped, shortId } from '../look/number';
import { useTime } from '../time';
import { Button } from '../ui/button';
import { inputClass } from '../ui/field';
import { PageHead, TextLink } from '../ui/layout';
import { Empty } from '../ui/states';
import { useEvents, type EventsFilter, type Stream } from './use-events';

function useFilter() {
  const router = useRouter();
  const params = useSearchParams();
  const after = params.get('after') ?? '';
  const filter: EventsFilter = {
    kinds: params.getAll('kind').filter((kind) => (KEY_KINDS as readonly string[]).includes(kind)),
    prefix: (params.get('prefix') ?? '').slice(0, 600),
    task: (params.get('task') ?? '').slice(0, 600),
    after: /^\d{1,19}$/.test(after) ? after : undefined,
  };
  const go = (next: EventsFilter): void => {
    const search = new URLSearchParams();
    for (const kind of next.kinds) search.append('kind', kind);
    if (next.prefix !== '') search.set('prefix', next.prefix);
    if (next.task !== '') search.set('task', next.task);
    if (next.after !== undefined) search.set('after', next.after);
    router.replace(search.size === 0 ? '/events' : `/events?${search.toString()}`, { scroll: false });
  };
  return { filter, go };
}

export function EventsPage() {
  const t = useT();
  const { filter, go } = useFilter();
  const [paused, setPaused] = useState(false);
  const stream = useEvents(filter, paused);
  return (
    <div className="px-4 pt-4 pb-16 sm:px-6">
      <title>{`${t('nav.events')} · Leasehold`}</title>
      <PageHead
        title={t('nav.events')}
        note={t('events.text')}
        actions={
          <Button onClick={() => setPaused(!paused)} aria-pressed={paused}>
            {paused ? <Play className="size-3.5" aria-hidden /> : <Pause className="size-3.5" aria-hidden />}
            {paused ? t('events.resume') : t('events.pause')}
          </Button>
        }
      />
      <Filters filter={filter} go={go} />
      <Status stream={stream} paused={paused} />
      {stream.groups.length === 0 ? (
        <Empty icon={Radio} title={stream.revision === undefined ? t('load.loading') : t('events.none')}>
          {stream.revision !== undefined && t('events.noneText')}
        </Empty>
      ) : (
        <ol aria-label={t('nav.events')} data-testid="events">
          {stream.groups.map((group) => (
            <GroupRow key={group.revision} group={group} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Filters({ filter, go }: { filter: EventsFilter; go: (next: EventsFilter) => void }) {
  const t = useT();
  const [prefix, setPrefix] = useState(filter.prefix);
  const [task, setTask] = useState(filter.task);
  const apply = (): void => go({ ...filter, prefix: prefix.trim(), task: task.trim() });
  const toggle = (kind: string): void => {
    const kinds = filter.kinds.includes(kind) ? filter.kinds.filter((each) => each !== kind) : [...filter.kinds, kind];
    go({ ...filter, kinds });
  };
  return (
    <form
      aria-label={t('board.filters')}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
      className="border-line flex flex-col gap-3 border-b pb-3"
    >
      <div className="flex flex-wrap gap-1.5" role="group" aria-label={t('events.kinds')}>
        {KEY_KINDS.map((kind) => {
          const on = filter.kinds.includes(kind);
          return (
            <button
              key={kind}
              type="button"
              aria-pressed={on}
              onClick={() => toggle(kind)}
              className={clsx(
                'rounded border px-1.5 font-mono text-xs leading-5',
                on ? 'border-accent bg-accent/12 text-ink' : 'border-line2 text-ink2 hover:text-ink',
              )}
            >
              {kind}
            </button>
          );
        })}
      </div>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        <label className="text-ink2 flex min-w-0 flex-wrap items-center gap-2 whitespace-nowrap">
          {t('events.prefix')}
          <input
            value={prefix}
            onChange={(event) => setPrefix(event.target.value)}
            onBlur={apply}
            placeholder="locks/"
            spellCheck={false}
            autoComplete="off"
            className={inputClass('w-52! font-mono')}
          />
        </label>
        <label className="text-ink2 flex min-w-0 flex-wrap items-center gap-2 whitespace-nowrap">
          {t('events.task')}
          <input
            value={task}
            onChange={(event) => setTask(event.target.value)}
            onBlur={apply}
            spellCheck={false}
            autoComplete="off"
            className={inputClass('w-72! max-w-full font-mono')}
          />
        </label>
        <button type="submit" className="sr-only">
          {t('events.apply')}
        </button>
      </div>
    </form>
  );
}

function Status({ stream, paused }: { stream: Stream; paused: boolean }) {
  const t = useT();
  const { revision, groups, dropped, missed, error } = stream;
  return (
    <p role="status" className="text-ink3 flex flex-wrap gap-x-5 py-2 text-xs">
      {revision !== undefined && <span>{t('events.upTo', { rev: grouped(revision) })}</span>}
      <span>{t('events.shown', { n: grouped(groups.length) })}</span>
      {paused && <span className="text-retry font-semibold">{t('events.paused')}</span>}
      {dropped > 0 && <span>{t('events.dropped', { n: grouped(dropped) })}</span>}
      {missed && <span className="text-retry font-semibold">{t('events.missed')}</span>}
      {error !== null && <span className="text-failure">{problemText(error, t)}</span>}
    </p>
  );
}

/** One transaction: all its changes stand together. */
function GroupRow({ group }: { group: StreamGroup }) {
  const t = useT();
  const time = useTime();
  return (
    <li className="border-line grid gap-x-5 gap-y-1 border-b py-2 sm:grid-cols-[150px_minmax(0,1fr)]">
      <div className="flex items-baseline gap-3 sm:flex-col sm:gap-0">
        <TextLink href={`/history?rev=${group.revision}`} className="font-semibold tabular-nums">
          {grouped(group.revision)}
        </TextLink>
        <span className="text-ink3 text-xs">
          {group.seenMs === undefined ? t('events.fromHistory') : time.clock(group.seenMs)}
        </span>
      </div>
      <ul className="min-w-0">
        {group.events.map((event) => (
          <EventRow key={event.key} event={event} />
        ))}
        {group.hidden > 0 && <li className="text-ink3 text-xs">{t('events.hidden', { n: group.hidden })}</li>}
      </ul>
    </li>
  );
}

function EventRow({ event }: { event: StreamEvent }) {
  const t = useT();
  const { type, created, key, bytes, lease, task, value, cut } = event;
  const verb = type === 'delete' ? 'events.deleted' : created ? 'events.created' : 'events.changed';
  const text = value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const head = (
    <>
      <span
        className={clsx(
          'inline-block w-16 shrink-0 text-xs font-semibold',
          type === 'delete' ? 'text-failure' : created ? 'text-started' : 'text-ink2',
        )}
      >
        {t(verb)}
      </span>
      <code className="min-w-0 font-mono text-xs wrap-anywhere">{key}</code>
      {type === 'put' && <span className="text-ink3 text-xs whitespace-nowrap">{bytesText(bytes)}</span>}
      {lease !== undefined && (
        <span className="text-ink3 text-xs whitespace-nowrap">{t('events.lease', { id: shortId(lease) })}</span>
      )}
    </>
  );
  return (
    <li className="flex min-w-0 flex-wrap items-baseline gap-x-3">
      {text === undefined ? (
        <span className="flex min-h-6 min-w-0 flex-wrap items-baseline gap-x-3 pl-4">{head}</span>
      ) : (
        <details className="min-w-0 flex-1">
          <summary className="flex min-h-6 min-w-0 cursor-pointer list-none flex-wrap items-baseline gap-x-3 before:w-1 before:text-xs before:content-['▸'] [[open]>&]:before:content-['▾']">
            {head}
          </summary>
          <pre
            tabIndex={0}
            className="border-line text-ink2 my-1 ml-4 max-h-72 overflow-auto border-l pl-3 font-mono text-xs leading-[18px] wrap-anywhere whitespace-pre-wrap"
          >
            {text}
            {cut === true && `\n${t('events.cut')}`}
          </pre>
        </details>
      )}
      {task !== undefined && (
        <TextLink href={`/tasks/${encodeURIComponent(task)}`} className="inline-flex min-h-6 items-center text-xs">
          {t('events.openTask')}
        </TextLink>
      )}
    </li>
  );
}
