import { Suspense } from 'react';
import { HistoryPage } from '../../history/history-page';

export default function Page() {
  return (
    <Suspense>
      <HistoryPage />
    </Suspense>
  );
}
