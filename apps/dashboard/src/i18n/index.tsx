'use client';
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { en, type Message, type MessageKey } from './en';
import { ko } from './ko';
import type { Language } from './languages';
import { fill, type Arguments } from './translate';

export { LANGUAGES, type Language } from './languages';

const DICTIONARIES: Readonly<Record<Language, Readonly<Record<MessageKey, string>>>> = { en, ko };

export type Translate = <K extends MessageKey>(key: K, ...values: Arguments<Message<K>>) => string;
export type { MessageKey, PlainKey } from './en';

export function makeTranslate(language: Language): Translate {
  const dictionary = DICTIONARIES[language];
  return (key, ...values) => fill(dictionary[key], values[0]);
}

const Words = createContext<{ readonly language: Language; readonly t: Translate } | null>(null);

export function WordsProvider({ language, children }: { language: Language; children: ReactNode }) {
  const value = useMemo(() => ({ language, t: makeTranslate(language) }), [language]);
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
