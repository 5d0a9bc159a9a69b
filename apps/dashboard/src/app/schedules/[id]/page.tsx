import { decoded } from '../../../look/address';
import { SchedulePage } from '../../../views/schedule-page';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <SchedulePage id={decoded(id)} />;
}
