'use client';
import type { Difference, TaskDifference } from '@leasehold/wire';
import type { TaskState } from '@leasehold/core/model';
import { useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { problemText } from '../api/acting';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useT } from '../i18n';
import { grouped, shortId } from '../look/number';
import { useNodeName } from '../look/node-name';
import { Button } from '../ui/button';
import { inputClass } from '../ui/field';
import { Fact, Facts, Section, TextLink } from '../ui/layout';
import { Loading } from '../ui/states';
import { StateMark } from '../ui/state-mark';
import { Table } from '../ui/table';

interface Props {
  readonly from: string;
  /** Undefined: now. */
  readonly to: string | undefined;
  readonly onTo: (to: string | undefined) => void;
}

/** What differs between two moments: counted by edge, then task by task, then what surrounds them. */
export function DifferenceView({ from, to, onTo }: Props) {
  const t = useT();
  const query = useQuery({
    queryKey: ['difference', from, to ?? 'now'],
    queryFn: ({ signal }) => call({ answer: 'Difference', path: paths.difference(from, to), signal }),
    staleTime: to === undefined ? 0 : Infinity,
    retry: false,
  });
  const aside = to === undefined ? t('difference.untilNow') : t('difference.until2', { rev: grouped(to) });
  return (
    <Section title={t('difference.title')} aside={aside}>
      <Until to={to} onTo={onTo} onAgain={() => void query.refetch()} />
      {query.error !== null ? (
        <p role="alert" className="text-failure py-3">
          {problemText(query.error, t)}
        </p>
      ) : query.data === undefined ? (
        <Loading rows={4} />
      ) : (
        <Found difference={query.data} />
      )}
    </Section>
  );
}

function Until({ to, onTo, onAgain }: Pick<Props, 'to' | 'onTo'> & { onAgain: () => void }) {
  const t = useT();
  const [text, setText] = useState(to ?? '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const digits = text.replace(/\D/g, '').replace(/^0+/, '');
    if (digits === (to ?? '')) onAgain();
    else onTo(digits === '' ? undefined : digits);
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 py-3">
      <label className="text-ink2 flex items-center gap-2 whitespace-nowrap">
        {t('difference.until')}
        <input
          inputMode="numeric"
          autoComplete="off"
          placeholder={t('difference.now')}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className={inputClass('w-32')}
        />
      </label>
      <Button type="submit">{t('difference.again')}</Button>
    </form>
  );
}

const KINDS = ['appeared', 'changed', 'vanished', 'same'] as const;

function Found({ difference }: { difference: Difference }) {
  const t = useT();
  const total = difference.appeared + difference.changed + difference.vanished;
  return (
    <div className="flex flex-col gap-7">
      <ul className="flex flex-wrap gap-x-8 gap-y-2" data-testid="difference">
        {KINDS.map((kind) => (
          <li key={kind} className="flex items-baseline gap-2">
            <b className="text-base">{grouped(difference[kind])}</b>
            <span className="text-ink2">{t(`difference.${kind}`)}</span>
          </li>
        ))}
      </ul>
      <Surroundings difference={difference} />
      {total === 0 ? (
        <p className="text-ink2">{t('difference.nothing')}</p>
      ) : (
        <div className="grid gap-x-10 gap-y-7 lg:grid-cols-[320px_minmax(0,1fr)]">
          <Moves difference={difference} />
          <Tasks difference={difference} total={total} />
        </div>
      )}
    </div>
  );
}

function Side({ state }: { state: TaskState | undefined }) {
  const t = useT();
  return state === undefined ? (
    <span className="text-ink3">{t('difference.absent')}</span>
  ) : (
    <StateMark state={state} />
  );
}

function Moves({ difference }: { difference: Difference }) {
  const t = useT();
  return (
    <Section title={t('difference.moves')}>
      <Table
        label={t('difference.moves')}
        rows={difference.moves}
        rowKey={({ from, to }) => `${from ?? ''} ${to ?? ''}`}
        columns={[
          { key: 'from', head: t('difference.from'), cell: ({ from }) => <Side state={from} /> },
          { key: 'to', head: t('difference.to'), cell: ({ to }) => <Side state={to} /> },
          { key: 'count', head: t('difference.count'), right: true, cell: ({ count }) => grouped(count) },
        ]}
      />
    </Section>
  );
}

/** Where it is still to be seen: later, or, if it is gone by then, before. */
function hrefOf({ id, kind }: TaskDifference, { from, to }: Difference): string {
  return `/tasks/${encodeURIComponent(id)}?rev=${kind === 'vanished' ? from.revision : to.revision}`;
}

function Tasks({ difference, total }: { difference: Difference; total: number }) {
  const t = useT();
  const { tasks } = difference;
  return (
    <Section
      title={t('difference.tasks')}
      aside={tasks.length < total ? t('difference.shown', { n: tasks.length, total: grouped(total) }) : undefined}
    >
      <Table
        label={t('difference.tasks')}
        rows={tasks}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'task',
            head: t('difference.task'),
            grows: true,
            cell: (task) => (
              <>
                <TextLink href={hrefOf(task, difference)} className="font-semibold">
                  {task.name}
                </TextLink>
                <span className="text-2xs text-ink3 ml-2 font-mono">{shortId(task.id)}</span>
              </>
            ),
          },
          {
            key: 'states',
            head: t('difference.moves'),
            cell: ({ from, to }) => (
              <span className="flex flex-wrap items-center gap-1.5">
                <Side state={from} />
                <ArrowRight className="text-ink3 size-3" aria-hidden />
                <Side state={to} />
              </span>
            ),
          },
        ]}
      />
    </Section>
  );
}

function Surroundings({ difference }: { difference: Difference }) {
  const t = useT();
  const name = useNodeName();
  const { nodesArrived, nodesLeft, queuesPaused, queuesResumed, leaders } = difference;
  const [before, after] = leaders;
  const leader = (node: string | null): string => (node === null ? t('difference.noLeader') : name(node));
  const rows = [
    [t('difference.arrived'), nodesArrived.map(name).join(', ')],
    [t('difference.left'), nodesLeft.map(name).join(', ')],
    [t('difference.paused'), queuesPaused.join(', ')],
    [t('difference.resumed'), queuesResumed.join(', ')],
    [t('difference.leader'), before === after ? '' : `${leader(before)} → ${leader(after)}`],
  ].filter(([, text]) => text !== '');
  if (rows.length === 0) return null;
  return (
    <Facts>
      {rows.map(([term = '', text]) => (
        <Fact key={term} term={term}>
          {text}
        </Fact>
      ))}
    </Facts>
  );
}
