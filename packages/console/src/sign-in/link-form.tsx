import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { person } from '../api/clients.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Login } from './login.ts';

type Props = { loginId: string; onBegun: (login: Login) => void };

/** Links the identity from a provider to an account. The person proves the account once with a code. */
export function LinkForm({ loginId, onBegun }: Props) {
  const begin = useMutation({
    mutationFn: async () => (await person.beginLogin({ body: { method: 'link', login_id: loginId } })).body,
    onSuccess: ({ login_id, expires_at, email = '', code = null }) =>
      onBegun({ email, loginId: login_id, expiresAt: expires_at, shownCode: code }),
  });
  return (
    <>
      <p>
        This is your first sign-in with this provider. We send a code to your address to confirm that the account is
        yours. After that, the provider signs you in.
      </p>
      <Button fullWidth autoFocus loading={begin.isPending} onClick={() => begin.mutate()}>
        Send the code
      </Button>
      {begin.error !== null && <ProblemNote error={begin.error} />}
    </>
  );
}
