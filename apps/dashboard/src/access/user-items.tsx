'use client';
/** What the menu of the frame has for whoever is signed in. Loaded when it is opened. */
import { KeyRound, LogOut } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useLink } from '../live/hooks';
import { MenuItem, MenuLine } from '../ui/menu';
import { toLogin } from './sign-in';
import { useAccessWords } from './words';

async function signOut(): Promise<void> {
  try {
    await call({ answer: 'SignedInOrOut', method: 'POST', path: paths.logout() });
  } finally {
    toLogin();
  }
}

export function UserItems() {
  const t = useAccessWords();
  const router = useRouter();
  const { hello } = useLink();
  const user = hello?.user;
  if (user === undefined) return null;
  return (
    <>
      {user.permissions.includes('token.manage') && (
        <MenuItem onSelect={() => router.push('/tokens')}>
          <KeyRound className="size-3.5" aria-hidden />
          {t('menu.tokens')}
        </MenuItem>
      )}
      {user.canSignOut && (
        <MenuItem onSelect={() => void signOut()}>
          <LogOut className="size-3.5" aria-hidden />
          {t('menu.signOut')}
        </MenuItem>
      )}
      <MenuLine />
    </>
  );
}
