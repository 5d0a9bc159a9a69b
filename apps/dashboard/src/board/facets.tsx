'use client';
import type { TaskFilter, TasksUrl } from '@leasehold/wire';
import { clsx } from 'clsx';
import { CirclePause, Hash, Layers, Server, Unplug } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import { useRows, useSummary } from '../live/hooks';
import { nodeName } from '../look/node-name';
import { grouped } from '../look/number';
import { STATE_ORDER, TASK_LOOK } from '../look/state';
import { useNow, useTime } from '../time';
import { leaseLeft, ShareBar } from '../ui/lease-bar';
import { LookIcon } from '../ui/state-mark';
import { hrefOf, toggled, withFilter, type ListFilter } from './use-url';

/** Each row is a link that puts one value into the filter, or takes it out. */
export function Facets({ state }: { state: TasksUrl }) {
  const t = useT();
  const { states, facets } = useSummary();
  return (
    <div className="flex flex-col gap-4 px-2.5 py-3">
      <FacetList title={t('facet.state')}>
        {STATE_ORDER.map((name) => (
          <FacetRow
            key={name}
            state={state}
            part="state"
            value={name}
            count={states?.states[name] ?? 0}
            icon={<LookIcon look={TASK_LOOK[name]} />}
            label={t(TASK_LOOK[name].word)}
          />
        ))}
      </FacetList>
      <QueueFacets state={state} />
      <NodeFacets state={state} />
      {facets !== undefined && facets.names.length > 0 && (
        <FacetList title={t('facet.name')} more={facets.more.names}>
          {withChosen(facets.names, state.filter.name).map(({ name, count }) => (
            <FacetRow
              key={name}
              state={state}
              part="name"
              value={name}
              count={count}
              icon={<Hash className="text-ink3 size-3.5" aria-hidden />}
              label={name}
            />
          ))}
        </FacetList>
      )}
      {facets !== undefined && facets.tags.length > 0 && (
        <FacetList title={t('facet.tag')} more={facets.more.tags}>
          {facets.tags.map(({ tag, count }) => (
            <FacetRow
              key={tag}
              state={state}
              part="tag"
              value={tag}
              count={count}
              icon={<Hash className="text-ink3 size-3.5" aria-hidden />}
              label={tag}
            />
          ))}
        </FacetList>
      )}
    </div>
  );
}

function withChosen(
  names: readonly { name: string; count: number }[],
  chosen: readonly string[] | undefined,
): readonly { name: string; count: number }[] {
  const missing = (chosen ?? []).filter((name) => !names.some((each) => each.name === name));
  return [...names, ...missing.map((name) => ({ name, count: 0 }))];
}

function QueueFacets({ state }: { state: TasksUrl }) {
  const t = useT();
  const { facets } = useSummary();
  const { view } = useRows('queues');
  if (facets === undefined || facets.queues.length === 0) return null;
  const capacity = new Map((view?.rows ?? []).map((queue) => [queue.id, queue.capacity]));
  return (
    <FacetList title={t('facet.queue')} aside={t('facet.runningLimit')} more={facets.more.queues}>
      {facets.queues.map(({ name, live, running, limit, paused, hasWorker }) => {
        const bound = limit ?? capacity.get(name) ?? 0;
        const idle = !hasWorker && !paused;
        return (
          <FacetRow
            key={name}
            state={state}
            part="queue"
            value={name}
            count={live}
            label={name}
            icon={
              paused ? (
                <CirclePause className="text-retry size-3.5" aria-hidden />
              ) : idle ? (
                <Unplug className="text-retry size-3.5" aria-hidden />
              ) : (
                <Layers className="text-ink3 size-3.5" aria-hidden />
              )
            }
            note={
              paused ? (
                <span className="text-retry">{t('queue.paused')}</span>
              ) : idle ? (
                <span className="text-retry">{t('queue.noWorker')}</span>
              ) : (
                `${running} / ${bound === 0 ? '∞' : bound}`
              )
            }
            bar={<ShareBar share={bound === 0 ? 0 : running / bound} />}
          />
        );
      })}
    </FacetList>
  );
}

function NodeFacets({ state }: { state: TasksUrl }) {
  const t = useT();
  const time = useTime();
  const { view } = useRows('nodes');
  const now = useNow();
  const nodes = (view?.rows ?? []).filter(
    (node) => node.departedMs === undefined || (state.filter.node?.includes(node.id) ?? false),
  );
  if (nodes.length === 0) return null;
  return (
    <FacetList title={t('facet.node')} aside={t('facet.lease')}>
      {nodes.slice(0, 12).map((node) => {
        const left = leaseLeft(node.lease, now);
        const share = left / Math.max(1, node.lease.ttlMs);
        return (
          <FacetRow
            key={node.id}
            state={state}
            part="node"
            value={node.id}
            count={time.age(left)}
            label={nodeName(node.id, node.host)}
            icon={<Server className="text-ink3 size-3.5" aria-hidden />}
            note={`${node.running} / ${node.capacity}${node.draining ? ` · ${t('node.draining')}` : ''}`}
            bar={<ShareBar share={share} tone={share < 0.2 ? 'bg-failure' : share < 0.4 ? 'bg-retry' : 'bg-started'} />}
          />
        );
      })}
    </FacetList>
  );
}

function FacetList({
  title,
  aside,
  more = 0,
  children,
}: {
  title: string;
  aside?: string;
  more?: number;
  children: ReactNode;
}) {
  const t = useT();
  return (
    <section aria-label={title}>
      <h2 className="text-2xs text-ink3 mx-1.5 mb-1 flex justify-between font-semibold">
        {title}
        {aside !== undefined && <span className="font-normal">{aside}</span>}
      </h2>
      <ul>{children}</ul>
      {more > 0 && <p className="text-2xs text-ink3 mx-1.5 mt-1">{t('facet.more', { n: grouped(more) })}</p>}
    </section>
  );
}

interface RowProps {
  readonly state: TasksUrl;
  readonly part: ListFilter;
  readonly value: string;
  readonly count: number | string;
  readonly icon: ReactNode;
  readonly label: string;
  readonly note?: ReactNode;
  readonly bar?: ReactNode;
}

function FacetRow({ state, part, value, count, icon, label, note, bar }: RowProps) {
  const chosen: TaskFilter = state.filter;
  const on = (chosen[part] as readonly string[] | undefined)?.includes(value) ?? false;
  return (
    <li>
      <Link
        href={hrefOf(withFilter(state, toggled(chosen, part, value)))}
        scroll={false}
        aria-current={on ? 'true' : undefined}
        className={clsx(
          'grid grid-cols-[16px_minmax(0,1fr)_auto] items-center gap-x-2 rounded-md px-1.5 py-1',
          on ? 'bg-accent/13 text-ink' : 'text-ink2 hover:bg-ink/5 hover:text-ink',
        )}
      >
        {icon}
        <span className="truncate" title={label}>
          {label}
        </span>
        <span className={on ? 'text-ink' : 'text-ink3'}>{typeof count === 'number' ? grouped(count) : count}</span>
        {note !== undefined && <span className="text-2xs text-ink3 col-start-2 leading-3.5">{note}</span>}
        {bar !== undefined && <span className="col-span-2 col-start-2 mt-1">{bar}</span>}
      </Link>
    </li>
  );
}
