import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { HandleId } from '@countersign/contracts/control-plane';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useHandles } from './use-handles.ts';

type Props = { handle: HandleId; onRevoked: () => void };

/** Closing a proof must not be harder than leaving it open, so revoking needs no confirmation. */
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
