import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { person } from '../api/clients.ts';
import { CodeField } from '../parts/code-field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

type Props = { loginId: string; shownCode: string | null; onProven: () => void };

/** Requests the code that was sent to the address of the signed-in person. */
export function CodeQuestion({ loginId, shownCode, onProven }: Props) {
  const [code, setCode] = useState('');
  const finish = useMutation({
    mutationFn: () => person.finishReauth({ body: { login_id: loginId, code: code.trim() } }),
    onSuccess: onProven,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    finish.mutate();
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <CodeField about="It was sent to your address." shownCode={shownCode} code={code} onChange={setCode} />
      {finish.error !== null && <ProblemNote error={finish.error} />}
      <Button type="submit" loading={finish.isPending}>
        Continue
      </Button>
    </form>
  );
}
