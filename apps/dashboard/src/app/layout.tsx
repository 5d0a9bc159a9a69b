import type { Metadata, Viewport } from 'next';
import { cookies, headers } from 'next/headers';
import type { ReactNode } from 'react';
import { ko } from '../i18n/ko';
import { Frame } from '../frame/frame';
import { LoginFrame } from '../access/login-frame';
import { DENSITIES, PREF_COOKIES, SWITCHES, THEMES, type Prefs, type Theme } from '../frame/pref-names';
import type { Language } from '../i18n/languages';
import './globals.css';

export const metadata: Metadata = { applicationName: 'Leasehold', robots: { index: false, follow: false } };
export const viewport: Viewport = { width: 'device-width', initialScale: 1 };

function languageOf(chosen: string | undefined, accepted: string): Language {
  if (chosen === 'en' || chosen === 'ko') return chosen;
  return /^\s*ko\b/i.test(accepted) ? 'ko' : 'en';
}

function themeOf(chosen: string | undefined): Theme {
  return THEMES.find((theme) => theme === chosen) ?? 'system';
}

/** Reading cookies and headers makes every page dynamic, which the nonce needs. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const [jar, head] = await Promise.all([cookies(), headers()]);
  const cookie = (name: keyof Prefs): string | undefined => jar.get(PREF_COOKIES[name])?.value;
  const zone = cookie('zone') ?? '';
  const prefs: Prefs = {
    theme: themeOf(cookie('theme')),
    language: languageOf(cookie('language'), head.get('accept-language') ?? ''),
    density: DENSITIES.find((density) => density === cookie('density')) ?? 'comfortable',
    shortcuts: SWITCHES.find((each) => each === cookie('shortcuts')) ?? 'on',
    columns: (cookie('columns') ?? '').slice(0, 200),
    zone: /^[A-Za-z0-9_+\-/]{1,60}$/.test(zone) ? zone : '',
  };
  const words = prefs.language === 'ko' ? ko : undefined;
  return (
    <html lang={prefs.language} data-theme={prefs.theme} data-density={prefs.density} suppressHydrationWarning>
      <body>
        {head.get('x-login') === '1' ? (
          <LoginFrame prefs={prefs} words={words}>
            {children}
          </LoginFrame>
        ) : (
          <Frame prefs={prefs} words={words} nonce={head.get('x-nonce') ?? ''}>
            {children}
          </Frame>
        )}
      </body>
    </html>
  );
}
