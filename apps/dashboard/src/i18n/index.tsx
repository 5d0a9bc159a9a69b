'use client';
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { en, type Message, type MessageKey } from './en';
import type { Language } from './languages';
import { fill, type Arguments } from './translate';

export { LANGUAGES, type Language } from './languages';

export type Dictionary = Readonly<Record<MessageKey, string>>;

export type Translate = <K extends MessageKey>(key: K, ...values: Arguments<Message<K>>) => string;
export type { MessageKey, PlainKey } from './en';

export function makeTranslate(dictionary: Dictionary): Translate {
  return (key, ...values) => fill(dictionary[key], values[0]);
}

const Words = createContext<{ readonly language: Language; readonly t: Translate } | null>(null);

interface Loaded {
  readonly language: Language;
  readonly dictionary: Dictionary;
}

/** English is in the bundle. Another language comes with the page that is in it, or is loaded when it is chosen. */
export function WordsProvider({
  language,
  given,
  children,
}: {
  language: Language;
  given: Dictionary | undefined;
  children: ReactNode;
}) {
  const [loaded, setLoaded] = useState<Loaded>(() => ({ language, dictionary: given ?? en }));
  useEffect(() => {
    if (loaded.language === language) return undefined;
    let wanted = true;
    const load = async (): Promise<void> => {
      const dictionary = language === 'en' ? en : (await import('./ko')).ko;
      if (wanted) setLoaded({ language, dictionary });
    };
    void load();
    return () => {
      wanted = false;
    };
  }, [language, loaded]);
  const value = useMemo(() => ({ language: loaded.language, t: makeTranslate(loaded.dictionary) }), [loaded]);
  return <Words value={value}>{children}</Words>;
}

export function useWords(): { readonly language: Language; readonly t: Translate } {
  const words = useContext(Words);
  if (words === null) throw new Error('useWords needs a WordsProvider around it');
  return words;
}

export function useT(): Translate {
  return useWords().t;
}
