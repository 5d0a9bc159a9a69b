'use client';
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { useWords } from '../i18n';
import { makeTimeFormat, type TimeFormat } from './format';

const Time = createContext<TimeFormat | null>(null);

export function TimeProvider({ zone, children }: { zone: string; children: ReactNode }) {
  const { language } = useWords();
  const format = useMemo(() => makeTimeFormat(zone, language), [zone, language]);
  return <Time value={format}>{children}</Time>;
}

export function useTime(): TimeFormat {
  const format = useContext(Time);
  if (format === null) throw new Error('useTime needs a TimeProvider around it');
  return format;
}

export { AtMoment, useLocalNow, useNow } from './ticker';
export { makeTimeFormat, type TimeFormat } from './format';
