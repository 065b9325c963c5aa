import { Button } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { CodeField } from '../parts/code-field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useFinish } from './finish-sign-in.ts';
import type { Login } from './login.ts';

type Props = { login: Login; onAgain: () => void };

export function CodeForm({ login, onAgain }: Props) {
  const [code, setCode] = useState('');
  const finish = useFinish((typed: string) => Promise.resolve({ login_id: login.loginId, code: typed }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    finish.mutate(code.trim());
  };
  return (
    <form onSubmit={submit}>
      <CodeField about={`It was sent to ${login.email}.`} shownCode={login.shownCode} code={code} onChange={setCode} />
      <Button type="submit" fullWidth loading={finish.isPending}>
        Sign in
      </Button>
      <button type="button" className="plain-button" onClick={onAgain}>
        Use another address
      </button>
      {finish.error !== null && <ProblemNote error={finish.error} />}
    </form>
  );
}
