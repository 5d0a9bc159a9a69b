'use client';
import { useT } from '../i18n';
import { useLink } from '../live/hooks';

/** What stands in the way of an act, for the button that would do it; undefined: nothing. The server asks again. */
export function useMissing(permission: string): string | undefined {
  const t = useT();
  const { hello } = useLink();
  if (hello?.readOnly === true) return t('live.readOnly');
  const held = hello?.user?.permissions;
  return held === undefined || held.includes(permission) ? undefined : t('live.missing', { permission });
}
