import { decoded } from '../../../look/address';
import { NodePage } from '../../../views/node-page';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <NodePage id={decoded(id)} />;
}
