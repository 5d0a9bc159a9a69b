import { Suspense } from 'react';
import { TasksPage } from '../../board/tasks-page';

export default function Page() {
  return (
    <Suspense>
      <TasksPage />
    </Suspense>
  );
}
