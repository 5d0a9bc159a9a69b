import { BulkDetailPage } from '../../../bulk/bulk-detail';
import { decoded } from '../../../look/address';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <BulkDetailPage id={decoded(id)} />;
}
