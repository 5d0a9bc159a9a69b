import { BuilderPage } from '../../../builder/builder-page';

export default function Page() {
  return <BuilderPage />;
}
