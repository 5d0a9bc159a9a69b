import type { Language } from '../i18n/languages';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const DENSITIES = ['comfortable', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];
export const SWITCHES = ['on', 'off'] as const;
export type Switch = (typeof SWITCHES)[number];

export interface Prefs {
  readonly theme: Theme;
  readonly language: Language;
  /** Empty until chosen: then the browser's own zone counts. */
  readonly zone: string;
  readonly density: Density;
  /** Single keys act; Ctrl-K always does. */
  readonly shortcuts: Switch;
  /** Columns of the task list where its address names none, joined by commas; empty: the usual ones. */
  readonly columns: string;
}

/** Kept in cookies, so that the first paint already has the theme and the language. */
export const PREF_COOKIES: Readonly<Record<keyof Prefs, string>> = {
  theme: 'lh_theme',
  language: 'lh_lang',
  zone: 'lh_zone',
  density: 'lh_density',
  shortcuts: 'lh_keys',
  columns: 'lh_columns',
};
