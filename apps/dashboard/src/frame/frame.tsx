'use client';
import type { EnvironmentTone, Hello } from '@leasehold/wire';
import { clsx } from 'clsx';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { WordsProvider, useT, type Dictionary } from '../i18n';
import { useRev } from '../live/rev';
import { Loading } from '../ui/states';
import { LiveProvider, useHealth, useLink, useSummary } from '../live/hooks';
import { ActingProvider } from '../api/acting';
import { TimeProvider, useTime } from '../time';
import { ToastProvider } from '../ui/toast';
import { preloadRest } from './preload';
import { PrefsProvider, usePrefs, type Prefs } from './prefs';
import { Rail } from './rail';
import { useFrameKeys } from './shortcuts';
import { TopBar } from './top-bar';

const KeyboardSheet = lazy(async () => ({ default: (await import('./keyboard-sheet')).KeyboardSheet }));
const PageMenu = lazy(async () => ({ default: (await import('./page-menu')).PageMenu }));
const PastGate = lazy(async () => ({ default: (await import('./past-gate')).PastGate }));
const Palette = lazy(async () => ({ default: (await import('./palette')).Palette }));

interface FrameProps {
  readonly prefs: Prefs;
  /** The words of a language that is not in the bundle. */
  readonly words: Dictionary | undefined;
  readonly nonce: string;
  readonly children: ReactNode;
}

export function Frame({ prefs, words, nonce, children }: FrameProps) {
  // Where react-style-singleton (under Radix dialogs) looks for the nonce of the style element it adds.
  if (typeof window !== 'undefined') (window as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
  return (
    <PrefsProvider initial={prefs}>
      <Contexts words={words}>
        <Shell>{children}</Shell>
      </Contexts>
    </PrefsProvider>
  );
}

function Contexts({ words, children }: Pick<FrameProps, 'words' | 'children'>) {
  const { language, zone } = usePrefs();
  return (
    <WordsProvider language={language} given={words}>
      <TimeProvider zone={zone}>
        <LiveProvider>
          <ToastProvider>
            <ActingProvider>{children}</ActingProvider>
          </ToastProvider>
        </LiveProvider>
      </TimeProvider>
    </WordsProvider>
  );
}

const BANDS: Readonly<Record<EnvironmentTone, string>> = {
  alarm: 'from-alarm',
  caution: 'from-caution',
  calm: 'from-accent',
};

/** One colour for an environment, so that nobody takes production for staging. */
function bandClass({ environment, environmentTone }: Partial<Hello> = {}): string {
  if (environment === undefined) return 'from-line2';
  if (environmentTone !== undefined) return BANDS[environmentTone];
  if (/prod|live/i.test(environment)) return 'from-alarm';
  if (/stag|test|qa/i.test(environment)) return 'from-caution';
  return 'from-accent';
}

function Shell({ children }: { children: ReactNode }) {
  const t = useT();
  const { hello } = useLink();
  const rev = useRev();
  const { freshness } = useHealth();
  const { triage } = useSummary();
  const [palette, setPalette] = useState(false);
  const [paletteWanted, setPaletteWanted] = useState(false);
  if (palette && !paletteWanted) setPaletteWanted(true);
  const [sheet, setSheet] = useState(false);
  const [menu, setMenu] = useState(false);
  useEffect(() => preloadRest(), []);
  useFrameKeys({ onPalette: () => setPalette((open) => !open), onSheet: () => setSheet(true) });
  return (
    <div className="grid h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[3px_46px_minmax(0,1fr)] sm:grid-cols-[52px_minmax(0,1fr)]">
      <a
        href="#main"
        className="bg-accent text-onaccent fixed top-2 left-2 z-50 -translate-y-16 rounded px-3 py-1.5 font-semibold focus:translate-y-0"
      >
        {t('frame.skip')}
      </a>
      <div
        className={clsx('col-span-full bg-linear-to-r to-transparent', bandClass(hello))}
        title={hello?.environment}
      />
      <Rail failing={triage?.failed ?? 0} onKeys={() => setSheet(true)} onMenu={() => setMenu(true)} />
      <TopBar onPalette={() => setPalette(true)} />
      <main
        id="main"
        tabIndex={-1}
        data-freshness={freshness}
        className={clsx(
          'relative min-h-0 min-w-0 overflow-auto outline-none max-sm:pb-14',
          freshness === 'stale' && 'hatched',
        )}
      >
        {rev === undefined ? (
          <>
            <GapNotice />
            {children}
          </>
        ) : (
          <Suspense fallback={<Loading />}>
            <PastGate key={rev} rev={rev}>
              {children}
            </PastGate>
          </Suspense>
        )}
      </main>
      {paletteWanted && (
        <Suspense>
          <Palette open={palette} onOpenChange={setPalette} />
        </Suspense>
      )}
      {menu && (
        <Suspense>
          <PageMenu open onOpenChange={setMenu} />
        </Suspense>
      )}
      {sheet && (
        <Suspense>
          <KeyboardSheet open onOpenChange={setSheet} />
        </Suspense>
      )}
    </div>
  );
}

/** After a break in the feed: what happened in between was not seen one by one, and the page says so. */
function GapNotice() {
  const t = useT();
  const time = useTime();
  const { notice } = useLink();
  const [seen, setSeen] = useState<number | null>(null);
  if (notice === undefined || notice.atMs === seen) return null;
  return (
    <p role="status" className="border-line text-retry bg-retry/8 flex items-center gap-3 border-b px-4 py-1.5 text-xs">
      <span className="min-w-0 grow">
        {t(`gap.${notice.kind}`, { from: notice.fromRevision, to: notice.toRevision, time: time.clock(notice.atMs) })}
      </span>
      <button type="button" className="font-semibold hover:underline" onClick={() => setSeen(notice.atMs)}>
        {t('action.dismiss')}
      </button>
    </p>
  );
}
