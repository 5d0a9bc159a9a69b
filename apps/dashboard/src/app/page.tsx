import { TriagePage } from '../pages/triage-page';

export default function Page() {
  return <TriagePage />;
}
