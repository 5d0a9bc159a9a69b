import { Suspense } from 'react';
import { ErrorsPage } from '../../views/errors-page';

export default function Page() {
  return (
    <Suspense>
      <ErrorsPage />
    </Suspense>
  );
}
