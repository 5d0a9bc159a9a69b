import { Suspense } from 'react';
import { EventsPage } from '../../history/events-page';

export default function Page() {
  return (
    <Suspense>
      <EventsPage />
    </Suspense>
  );
}
