import { decoded } from '../../../look/address';
import { ErrorPage } from '../../../views/error-page';

export default async function Page({ params }: { params: Promise<{ fingerprint: string }> }) {
  const { fingerprint } = await params;
  return <ErrorPage fingerprint={decoded(fingerprint)} />;
}
