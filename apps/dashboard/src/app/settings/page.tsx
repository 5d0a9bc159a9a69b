import { Suspense } from 'react';
import { SettingsPage } from '../../frame/settings-page';

export default function Page() {
  return (
    <Suspense>
      <SettingsPage />
    </Suspense>
  );
}
