import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { meQuery } from '../api/queries.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

type Props = { name: string; etag: string };

export function Rename({ name, etag }: Props) {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  // The version that was read before the first typed letter. A rename by another person is not overwritten. Other
  // changes do not matter.
  const [typed, setTyped] = useState<{ name: string; was: string; etag: string } | null>(null);
  const rename = useMutation({
    mutationFn: (wanted: Props) =>
      client.putConsoleWorkspace({
        params: { workspace_id: id },
        body: { name: wanted.name.trim() },
        headers: { 'if-match': wanted.etag },
      }),
    onSuccess: () => setTyped(null),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: [id, 'workspace'] });
      await queries.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed !== null) rename.mutate({ name: typed.name, etag: typed.was === name ? etag : typed.etag });
  };
  return (
    <form className="stacked narrow after-table" onSubmit={submit}>
      <TextInput
        label="New name"
        required
        withAsterisk={false}
        maxLength={200}
        autoComplete="off"
        value={typed?.name ?? name}
        onChange={({ target }) => setTyped({ name: target.value, was: typed?.was ?? name, etag: typed?.etag ?? etag })}
      />
      {rename.error !== null && <ProblemNote error={rename.error} />}
      <div>
        <Button
          type="submit"
          size="xs"
          disabled={typed === null || typed.name.trim() === name}
          loading={rename.isPending}
        >
          Rename
        </Button>
      </div>
    </form>
  );
}
