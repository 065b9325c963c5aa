import { useState } from 'react';
import { useDocumentTitle } from '@mantine/hooks';
import { useSearch } from '@tanstack/react-router';
import { AddressForm } from './address-form.tsx';
import { CodeForm } from './code-form.tsx';
import { LinkForm } from './link-form.tsx';
import { PasskeyWay } from './passkey-way.tsx';
import { ProviderWays } from './provider-ways.tsx';
import type { Login } from './login.ts';

/** Sign-in by a mailed code, a passkey or an identity provider. The first sign-in with a provider also needs a code. */
export function SignInPage() {
  useDocumentTitle('Sign in · Countersign');
  const { link }: { link?: string } = useSearch({ strict: false });
  const [isLinking, setIsLinking] = useState(link !== undefined);
  const [login, setLogin] = useState<Login | null>(null);
  const beginAgain = () => {
    setIsLinking(false);
    setLogin(null);
  };
  return (
    <main id="main" className="sign-in">
      <p className="brand">Countersign</p>
      <h1>Sign in</h1>
      {login !== null && <CodeForm login={login} onAgain={beginAgain} />}
      {login === null && isLinking && <LinkForm loginId={link ?? ''} onBegun={setLogin} />}
      {login === null && !isLinking && (
        <>
          <AddressForm onBegun={setLogin} />
          <PasskeyWay />
          <ProviderWays />
        </>
      )}
    </main>
  );
}
