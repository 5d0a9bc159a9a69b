export const LANGUAGES = { en: 'English', ko: '한국어' } as const;
export type Language = keyof typeof LANGUAGES;
