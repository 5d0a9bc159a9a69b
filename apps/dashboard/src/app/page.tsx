import { TriagePage } from '../views/triage-page';

export default function Page() {
  return <TriagePage />;
}
