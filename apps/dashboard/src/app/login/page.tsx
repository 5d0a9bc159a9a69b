import { LoginPage } from '../../access/login-page';

export default function Page() {
  return <LoginPage />;
}
