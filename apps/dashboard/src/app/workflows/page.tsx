import { WorkflowsPage } from '../../workflow/workflows-page';

export default function Page() {
  return <WorkflowsPage />;
}
