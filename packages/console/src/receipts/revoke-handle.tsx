import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { HandleId } from '@countersign/contracts/control-plane';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

type Props = { handle: HandleId; onRevoked: () => void };

/** Taking a proof back is never harder than leaving it open, so it asks nothing. */
export function RevokeHandle({ handle, onRevoked }: Props) {
  const { client } = useWorkspace();
  const revoke = useMutation({
    mutationFn: () => client.revokeEvidenceHandle({ params: { handle } }),
    onSuccess: onRevoked,
  });
  return (
    <>
      <Button size="compact-xs" variant="default" loading={revoke.isPending} onClick={() => revoke.mutate()}>
        Revoke link
      </Button>
      {revoke.error !== null && <ProblemNote error={revoke.error} />}
    </>
  );
}
