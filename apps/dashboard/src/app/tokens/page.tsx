import { TokensPage } from '../../access/tokens-page';

export default function Page() {
  return <TokensPage />;
}
