import { Suspense } from 'react';
import { BulkPage } from '../../bulk/bulk-page';

export default function Page() {
  return (
    <Suspense>
      <BulkPage />
    </Suspense>
  );
}
