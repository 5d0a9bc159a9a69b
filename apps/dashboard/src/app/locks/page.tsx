import { Suspense } from 'react';
import { LocksPage } from '../../pages/locks-page';

export default function Page() {
  return (
    <Suspense>
      <LocksPage />
    </Suspense>
  );
}
