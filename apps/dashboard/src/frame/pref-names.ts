import type { Language } from '../i18n/languages';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface Prefs {
  readonly theme: Theme;
  readonly language: Language;
  /** Empty until chosen: then the browser's own zone counts. */
  readonly zone: string;
}

/** Kept in cookies, so that the first paint already has the theme and the language. */
export const PREF_COOKIES: Readonly<Record<keyof Prefs, string>> = {
  theme: 'lh_theme',
  language: 'lh_lang',
  zone: 'lh_zone',
};
