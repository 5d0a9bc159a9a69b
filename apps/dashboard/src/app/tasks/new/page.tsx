import { Suspense } from 'react';
import { NewTaskPage } from '../../../forms/new-task';

export default function Page() {
  return (
    <Suspense>
      <NewTaskPage />
    </Suspense>
  );
}
