import { Suspense } from 'react';
import { ClusterPage } from '../../views/cluster-page';

export default function Page() {
  return (
    <Suspense>
      <ClusterPage />
    </Suspense>
  );
}
