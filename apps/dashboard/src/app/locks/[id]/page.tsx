import { decoded } from '../../../look/address';
import { LockPage } from '../../../views/lock-page';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <LockPage id={decoded(id)} />;
}
