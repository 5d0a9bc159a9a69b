import { Suspense } from 'react';
import { NodesPage } from '../../views/nodes-page';

export default function Page() {
  return (
    <Suspense>
      <NodesPage />
    </Suspense>
  );
}
