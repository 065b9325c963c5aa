import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { person } from '../api/clients.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/**
 * Creates the person's one organisation, with a workspace and its budget. A repeated request finishes what is missing.
 */
export function FoundOrg() {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const found = useMutation({
    mutationFn: () => person.bootstrapOrg({ body: { name } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [id] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    found.mutate();
  };
  return (
    <form className="in-line" onSubmit={submit}>
      <TextInput
        label="Name of the organisation"
        required
        withAsterisk={false}
        maxLength={200}
        autoComplete="organization"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Button type="submit" loading={found.isPending}>
        Create
      </Button>
      {found.error !== null && <ProblemNote error={found.error} />}
    </form>
  );
}
