import { Suspense } from 'react';
import { NodesPage } from '../../pages/nodes-page';

export default function Page() {
  return (
    <Suspense>
      <NodesPage />
    </Suspense>
  );
}
