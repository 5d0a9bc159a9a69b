'use client';
import { useMissing } from '../access/may';
import { Inbox, SearchX } from 'lucide-react';
import { useT } from '../i18n';
import { useSummary, useTasks } from '../live/hooks';
import { grouped } from '../look/number';
import { useTime } from '../time';
import { LinkButton } from '../ui/button';
import { Empty, Loading } from '../ui/states';
import dynamic from 'next/dynamic';
import { lazy, Suspense, useMemo } from 'react';
import { ownColumns, usePrefs } from '../frame/prefs';
import { columnsOf } from './columns';
import { Facets } from './facets';
import { Tools } from './tools';
import { useExpansion } from './use-expansion';
import { useSelection } from './use-selection';
import { useTasksUrl } from './use-url';

/** On its way while the page wakes up and the socket is opened: rows come after both. */
const TaskList = dynamic(async () => (await import('./task-list')).TaskList, { loading: () => <Loading rows={10} /> });
const Histogram = dynamic(async () => (await import('./histogram')).Histogram, {
  ssr: false,
  loading: () => <div className="h-26" />,
});
const Kanban = dynamic(async () => (await import('./kanban')).Kanban, { loading: () => <Loading rows={10} /> });
const SelectionBar = lazy(async () => ({ default: (await import('./selection-bar')).SelectionBar }));

export function TasksPage() {
  const t = useT();
  const { state, ignored, go } = useTasksUrl();
  const live = useTasks({ filter: state.filter, order: state.order });
  const prefs = usePrefs();
  const selection = useSelection(live.view?.rows);
  const expansion = useExpansion();
  const columns = useMemo(() => columnsOf(state, ownColumns(prefs)), [state, prefs]);
  const [noCancel, noRetry] = [useMissing('task.cancel'), useMissing('task.retry')];
  const mayNotAct = noCancel !== undefined && noRetry !== undefined;
  const filtered = Object.keys(state.filter).length > 0;
  return (
    <div className="flex h-full min-h-0">
      <title>{`${t('nav.tasks')} · Leasehold`}</title>
      <h1 className="sr-only">{t('nav.tasks')}</h1>
      <aside aria-label={t('board.filters')} className="border-line w-58 shrink-0 overflow-auto border-r max-lg:hidden">
        <Facets state={state} />
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        {selection.ids.size > 0 ? (
          <Suspense fallback={<Tools state={state} go={go} />}>
            <SelectionBar
              selection={selection}
              arrivals={live.view?.newCount ?? 0}
              filter={state.filter}
              total={live.view?.total ?? 0}
              readOnly={mayNotAct}
            />
          </Suspense>
        ) : (
          <Tools state={state} go={go} />
        )}
        {ignored.length > 0 && (
          <p role="status" className="text-retry bg-retry/8 px-3.5 py-1.5 text-xs">
            {t('board.ignored', { names: ignored.join(', ') })}
          </p>
        )}
        <div className="px-3.5 max-sm:hidden">
          <Histogram state={state} go={go} />
        </div>
        {state.layout === 'kanban' ? (
          <Kanban state={state} selection={selection} />
        ) : (
          <TaskList
            live={live}
            order={state.order}
            filter={state.filter}
            columns={columns}
            selection={selection}
            expansion={expansion}
            onOrder={(order) => go({ ...state, order })}
            empty={filtered ? <NothingMatches /> : <NoTasks />}
          />
        )}
        <Foot live={live} />
      </div>
    </div>
  );
}

function NothingMatches() {
  const t = useT();
  return (
    <Empty
      icon={SearchX}
      title={t('board.nothing')}
      action={<LinkButton href="/tasks">{t('board.clearFilters')}</LinkButton>}
    >
      {t('board.nothingText')}
    </Empty>
  );
}

function NoTasks() {
  const t = useT();
  return (
    <Empty
      icon={Inbox}
      title={t('board.empty')}
      action={
        <>
          <LinkButton href="/tasks/new" kind="primary">
            {t('action.newTask')}
          </LinkButton>
          <LinkButton href="/workflows/new">{t('action.newWorkflow')}</LinkButton>
        </>
      }
    >
      {t('board.emptyText')}
    </Empty>
  );
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

function Foot({ live }: { live: ReturnType<typeof useTasks> }) {
  const t = useT();
  const time = useTime();
  const { rates, cluster } = useSummary();
  const { view } = live;
  if (view === undefined) return null;
  const ended = rates === undefined ? null : mean(rates.succeeded.slice(-11, -1)) + mean(rates.failed.slice(-11, -1));
  return (
    <footer className="border-line text-ink3 flex flex-wrap gap-x-5 gap-y-0.5 border-t px-3.5 py-1.5 text-xs max-sm:hidden">
      <span data-testid="list-total">{t('board.total', { n: grouped(view.total) })}</span>
      {ended !== null && (
        <span>{t('board.perSecond', { n: ended < 10 ? ended.toFixed(1) : grouped(Math.round(ended)) })}</span>
      )}
      {rates !== undefined && rates.wait.count > 0 && (
        <span>{t('board.waitP95', { span: time.span(rates.wait.p95Ms) })}</span>
      )}
      {rates !== undefined && rates.run.count > 0 && (
        <span>{t('board.runP95', { span: time.span(rates.run.p95Ms) })}</span>
      )}
      <span className="grow" />
      {cluster !== undefined && cluster.dropped > 0 && (
        <span className="text-retry">{t('board.dropped', { n: grouped(cluster.dropped) })}</span>
      )}
      <span>{view.frozen ? t('board.frozen') : t('board.asOf', { rev: grouped(view.revision) })}</span>
    </footer>
  );
}
