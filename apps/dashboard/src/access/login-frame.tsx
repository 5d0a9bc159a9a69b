'use client';
/** The login stands outside the frame: nothing is followed, and nothing is known, before somebody has signed in. */
import type { ReactNode } from 'react';
import { WordsProvider, type Dictionary } from '../i18n';
import { PrefsProvider, usePrefs, type Prefs } from '../frame/prefs';

export function LoginFrame({
  prefs,
  words,
  children,
}: {
  prefs: Prefs;
  words: Dictionary | undefined;
  children: ReactNode;
}) {
  return (
    <PrefsProvider initial={prefs}>
      <Worded words={words}>{children}</Worded>
    </PrefsProvider>
  );
}

function Worded({ words, children }: { words: Dictionary | undefined; children: ReactNode }) {
  const { language } = usePrefs();
  return (
    <WordsProvider language={language} given={words}>
      <main id="main">{children}</main>
    </WordsProvider>
  );
}
