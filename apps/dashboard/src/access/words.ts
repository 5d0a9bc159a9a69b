'use client';
import { useWords } from '../i18n';
import { accessEn, type AccessKey } from '../i18n/access.en';
import { accessKo } from '../i18n/access.ko';

export type AccessWords = (key: AccessKey, values?: Readonly<Record<string, string | number>>) => string;

/** The words of these pages, apart from those of all pages. */
export function useAccessWords(): AccessWords {
  const { language } = useWords();
  return (key, values = {}) => {
    const text = language === 'ko' ? accessKo[key] : accessEn[key];
    return text.replace(/\{(\w+)\}/g, (_whole, name: string) => String(values[name] ?? ''));
  };
}
