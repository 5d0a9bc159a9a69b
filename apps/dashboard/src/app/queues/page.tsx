import { Suspense } from 'react';
import { QueuesPage } from '../../pages/queues-page';

export default function Page() {
  return (
    <Suspense>
      <QueuesPage />
    </Suspense>
  );
}
