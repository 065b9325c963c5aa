import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { mayDo } from '@countersign/contracts';
import type { PublicProof as Setting } from '@countersign/contracts/control-plane';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { Published } from './published.tsx';

type Props = { name: string; etag: string; setting: Setting };

/** The public evidence of the workspace, and the button that closes all of it at once. */
export function PublicProof({ name, etag, setting }: Props) {
  const { id, role, client } = useWorkspace();
  const queries = useQueryClient();
  const set = useMutation({
    mutationFn: (public_proof: Setting) =>
      client.putConsoleWorkspace({
        params: { workspace_id: id },
        body: { name, public_proof },
        headers: { 'if-match': etag },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: [id, 'workspace'] }),
  });
  const isOff = setting === 'off';
  return (
    <section aria-label="Public proof">
      <h2>Public proof</h2>
      {isOff ? (
        <p>Nothing of this workspace is public. Every published link answers "not found".</p>
      ) : (
        <p>Only what an owner published is public, under links that expire and can be revoked.</p>
      )}
      <Published />
      {set.error !== null && <ProblemNote error={set.error} />}
      {mayDo(role, 'workspace.manage') && (
        <Button
          size="xs"
          variant="default"
          loading={set.isPending}
          onClick={() => set.mutate(isOff ? 'published' : 'off')}
        >
          {isOff ? 'Turn public links on' : 'Turn public links off'}
        </Button>
      )}
    </section>
  );
}
