import { Suspense } from 'react';
import { SchedulesPage } from '../../views/schedules-page';

export default function Page() {
  return (
    <Suspense>
      <SchedulesPage />
    </Suspense>
  );
}
