import { Suspense } from 'react';
import { AuditPage } from '../../views/audit-page';

export default function Page() {
  return (
    <Suspense>
      <AuditPage />
    </Suspense>
  );
}
