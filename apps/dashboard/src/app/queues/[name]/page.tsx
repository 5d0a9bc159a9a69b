import { decoded } from '../../../look/address';
import { QueuePage } from '../../../views/queue-page';

export default async function Page({ params }: { params: Promise<{ name: string }> }) {
  const { name } = await params;
  return <QueuePage name={decoded(name)} />;
}
