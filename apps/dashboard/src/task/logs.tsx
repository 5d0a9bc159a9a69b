'use client';
import type { LogLine } from '@leasehold/wire';
import { ArrowDownToLine, Download } from 'lucide-react';
import { useLayoutEffect, useRef, useState } from 'react';
import { useT } from '../i18n';
import { useTime } from '../time';
import { Section } from '../ui/layout';
import { isAtEnd } from './at-end';
import { plain } from './parts';

/** Follows new lines only while the reader is at the end; whoever has scrolled up keeps his place (report B26). */
export function Logs({ id, logs }: { id: string; logs: readonly LogLine[] }) {
  const t = useT();
  const time = useTime();
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const toEnd = (): void => box.current?.scrollTo({ top: box.current.scrollHeight });
  useLayoutEffect(() => {
    if (following) toEnd();
  }, [following, logs.length]);
  if (logs.length === 0) return null;
  const save = (): void => saveText(`${id}.log`, logs.map((line) => logText(line, time.full)).join('\n'));
  return (
    <Section
      title={t('task.logs')}
      aside={
        <span className="flex items-center gap-4">
          {t('task.logsNote', { n: logs.length })}
          {!following && (
            <button
              type="button"
              onClick={() => setFollowing(true)}
              className="text-accent inline-flex items-center gap-1 font-semibold hover:underline"
            >
              <ArrowDownToLine className="size-3.5" aria-hidden />
              {t('task.logsFollow')}
            </button>
          )}
          <button
            type="button"
            onClick={save}
            className="hover:text-ink inline-flex items-center gap-1 hover:underline"
          >
            <Download className="size-3.5" aria-hidden />
            {t('task.download')}
          </button>
        </span>
      }
    >
      <div
        ref={box}
        role="log"
        tabIndex={0}
        aria-label={t('task.logs')}
        onScroll={(event) => setFollowing(isAtEnd(event.currentTarget))}
        className="max-h-80 overflow-auto py-1.5 font-mono text-xs leading-[18px]"
      >
        {logs.map((line) => (
          <div key={`${line.attempt}-${line.n}`} className="flex gap-3">
            <span className="text-ink3 shrink-0">{line.atMs === undefined ? '' : time.clock(line.atMs)}</span>
            <span className="text-ink3 shrink-0">#{line.attempt}</span>
            {line.level !== undefined && <span className="text-ink3 w-10 shrink-0">{line.level}</span>}
            <span className="min-w-0 wrap-anywhere whitespace-pre-wrap">{plain(line.message)}</span>
          </div>
        ))}
      </div>
    </Section>
  );
}

function logText({ attempt, atMs, level, message }: LogLine, full: (ms: number) => string): string {
  return [atMs === undefined ? '' : full(atMs), `#${attempt}`, level ?? '', message]
    .filter((part) => part !== '')
    .join(' ');
}

function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
