import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { person } from '../api/clients.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import type { Login } from './login.ts';

export function AddressForm({ onBegun }: { onBegun: (login: Login) => void }) {
  const [email, setEmail] = useState('');
  const begin = useMutation({
    mutationFn: async () => (await person.beginLogin({ body: { method: 'code', email } })).body,
    onSuccess: ({ login_id, expires_at, code = null }) =>
      onBegun({ email, loginId: login_id, expiresAt: expires_at, shownCode: code }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username webauthn"
        required
        withAsterisk={false}
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Button type="submit" fullWidth loading={begin.isPending}>
        Continue
      </Button>
      <p className="quiet">We send a code to this address. Your first sign-in creates a workspace.</p>
      {begin.error !== null && <ProblemNote error={begin.error} />}
    </form>
  );
}
