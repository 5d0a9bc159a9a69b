import { decoded } from '../../../look/address';
import { WorkflowPage } from '../../../workflow/workflow-page';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <WorkflowPage id={decoded(id)} />;
}
