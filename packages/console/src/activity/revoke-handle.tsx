import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { HandleId } from '@countersign/contracts/control-plane';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useHandles } from './use-handles.ts';

type Props = { handle: HandleId; onRevoked: () => void };

/** Taking a proof back is never harder than leaving it open, so it asks nothing. */
export function RevokeHandle({ handle, onRevoked }: Props) {
  const handles = useHandles();
  const revoke = useMutation({
    mutationFn: () => handles.revokeEvidenceHandle({ params: { handle } }),
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
