import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { z } from 'zod';
import { isAppError } from '@countersign/contracts';
import { person } from '../api/clients.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { DeviceQuestion } from './device-question.tsx';

/** The query parameter of RFC 8628 §3.3.1 in the address that a program shows. */
const Search = z.object({ user_code: z.string().optional().catch(undefined) });

/** The page on which a person confirms a terminal program by its code. */
export function DevicePage() {
  const [{ user_code: code }, change] = usePageSearch(Search);
  return (
    <Page
      title="Give a program access"
      about="A program asks to act for you in one workspace. It can never approve calls."
    >
      {code === undefined ? (
        <CodeForm onTyped={(typed) => change({ user_code: typed })} />
      ) : (
        <Asking key={code} code={code} onAgain={() => change({ user_code: undefined })} />
      )}
    </Page>
  );
}

function CodeForm({ onTyped }: { onTyped: (code: string) => void }) {
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onTyped(code.trim());
  };
  return (
    <form className="stacked narrow" onSubmit={submit}>
      <TextInput
        label="Code shown by the program"
        description="Eight letters. Case and dashes do not matter."
        required
        withAsterisk={false}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        maxLength={32}
        value={code}
        onChange={({ target }) => setCode(target.value)}
      />
      <Button type="submit">Continue</Button>
    </form>
  );
}

function Asking({ code, onAgain }: { code: string; onAgain: () => void }) {
  const login = useQuery({
    queryKey: ['device', code],
    queryFn: async ({ signal }) => (await person.getDeviceLogin({ params: { user_code: code }, signal })).body,
    // Each read counts as a try of the code, and tries are limited.
    staleTime: Infinity,
    retry: false,
  });
  if (isAppError(login.error) && login.error.code === 'NOT_FOUND') return <NoSuchCode onAgain={onAgain} />;
  return <Loaded query={login}>{(request) => <DeviceQuestion login={request} />}</Loaded>;
}

function NoSuchCode({ onAgain }: { onAgain: () => void }) {
  return (
    <section className="note note-problem" role="alert">
      <h2>No program uses this code</h2>
      <p>It may be misspelled, older than ten minutes, or already used. Restart the program to get a new code.</p>
      <Button size="xs" variant="default" onClick={onAgain}>
        Enter another code
      </Button>
    </section>
  );
}
