import { Suspense } from 'react';
import { LocksPage } from '../../views/locks-page';

export default function Page() {
  return (
    <Suspense>
      <LocksPage />
    </Suspense>
  );
}
