import { describeCron, LeaseholdError, nextFires } from '@leasehold/core/model';
import type { Language } from '../i18n';

/** In words, where there are words: core's are English. Elsewhere the expression and its next times must do. */
export function cronWords(spec: string, language: Language): string | undefined {
  if (language !== 'en') return undefined;
  try {
    return describeCron(spec);
  } catch {
    return undefined;
  }
}

export type Fires = { readonly times: readonly number[] } | { readonly problem: string };

/** The next times, or what is wrong with the expression or the zone, in core's words. */
export function firesOf(spec: string, zone: string, afterMs: number, count: number, anchorMs = 0): Fires {
  try {
    return { times: nextFires(spec, zone, afterMs, count, anchorMs) };
  } catch (error) {
    if (error instanceof LeaseholdError) return { problem: error.message };
    throw error;
  }
}
