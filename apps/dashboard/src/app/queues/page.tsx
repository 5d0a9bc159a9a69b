import { Suspense } from 'react';
import { QueuesPage } from '../../views/queues-page';

export default function Page() {
  return (
    <Suspense>
      <QueuesPage />
    </Suspense>
  );
}
