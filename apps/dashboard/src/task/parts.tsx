'use client';
import type { WaitReason } from '@leasehold/core/model';
import type { ShownError, TaskRow } from '@leasehold/wire';
import { BookOpen, Hourglass, X } from 'lucide-react';
import { useT } from '../i18n';
import { WhyLink } from '../look/why';
import { Ago } from '../board/row-time';
import { CopyButton } from '../ui/copy';
import { Section, TextLink } from '../ui/layout';
import { ShareBar } from '../ui/lease-bar';

/** Every reason why it does not run, the most decisive first, each with a way to what stands in the way. */
export function WhyList({ why }: { why: readonly WaitReason[] }) {
  const t = useT();
  const [first, ...rest] = why;
  if (first === undefined) return null;
  return (
    <section aria-label={t('task.why')} className="border-line2 flex gap-3 rounded-lg border px-4 py-3">
      <Hourglass className="text-ink3 mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0">
        <h2 className="text-ink3 text-xs font-semibold">{t('task.why')}</h2>
        <p className="text-base font-semibold wrap-anywhere">
          <WhyLink reason={first} />
        </p>
        {rest.length > 0 && (
          <ul className="text-ink2 mt-1 list-disc pl-4">
            {rest.map((reason, index) => (
              <li key={index} className="wrap-anywhere">
                <WhyLink reason={reason} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

export function ProgressLine({ progress }: { progress: TaskRow['progress'] }) {
  const t = useT();
  if (progress === undefined) return null;
  const share = progress.fraction;
  return (
    <Section title={t('task.progress')} aside={progress.atMs === undefined ? undefined : <Ago ms={progress.atMs} />}>
      <div className="py-2">
        {share !== undefined && <ShareBar share={share} className="mb-1.5 h-1.5!" />}
        <p className="wrap-anywhere">
          {share !== undefined && <b className="mr-2">{Math.round(share * 100)} %</b>}
          {progress.message}
        </p>
      </div>
    </Section>
  );
}

/** Control characters and direction overrides are made visible, so that a text cannot pretend to be another. */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

const SAFE_LINK = /^https?:\/\//i;

export function ErrorCard({ error, runbook }: { error: ShownError; runbook: string | undefined }) {
  const t = useT();
  return (
    <section aria-label={t('task.error')} className="border-failure/35 bg-failure/5 rounded-lg border px-4 py-3">
      <div className="flex items-start gap-3">
        <X className="text-failure mt-0.5 size-4 shrink-0" strokeWidth={2.5} aria-hidden />
        <div className="min-w-0 grow">
          <p className="text-base font-semibold wrap-anywhere">
            {plain(error.type)}
            <span className="text-ink3 ml-2 text-xs font-normal">
              {t('task.inAttempt', { n: error.attempt })} · <Ago ms={error.atMs} />
            </span>
          </p>
          <p className="mt-0.5 font-mono text-xs leading-[18px] wrap-anywhere whitespace-pre-wrap">
            {plain(error.message)}
          </p>
          <p className="mt-2 flex flex-wrap gap-x-4 text-xs">
            <TextLink href={`/tasks?error=${encodeURIComponent(error.fingerprint)}`}>{t('task.sameError')}</TextLink>
            {runbook !== undefined && SAFE_LINK.test(runbook) && (
              <a
                href={runbook}
                rel="noreferrer noopener"
                target="_blank"
                className="text-accent inline-flex items-center gap-1 hover:underline"
              >
                <BookOpen className="size-3.5" aria-hidden />
                {t('task.runbook')}
              </a>
            )}
            {error.final === true && <span className="text-ink3">{t('task.final')}</span>}
          </p>
        </div>
        <CopyButton text={`${error.type}: ${error.message}\n${error.stack ?? ''}`} />
      </div>
      {error.stack !== undefined && (
        <details className="mt-2">
          <summary className="text-ink2 text-xs font-semibold">{t('task.stack')}</summary>
          <pre className="text-ink2 mt-1.5 overflow-x-auto font-mono text-xs leading-[18px] whitespace-pre">
            {plain(error.stack)}
          </pre>
        </details>
      )}
    </section>
  );
}
