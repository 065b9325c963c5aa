import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PolicyDraft } from '@countersign/contracts/control-plane';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';

type Written = { text: string; version: number };

/** Writes the draft under the version that was read, 0 before the first. */
export function useWriteDraft() {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ text, version }: Written) =>
      (await policy.putPolicyDraft({ params: { id }, body: { text }, headers: { 'if-match': `"${version}"` } })).body,
    onSuccess: (draft) => queries.setQueryData([id, 'policy', 'draft'], { draft, templates: [] }),
  });
}

/** Writes the draft where it was changed, and has it compiled. `onWritten`: what stands now is one's own, whatever was typed since. */
export function useCompile(onWritten: (draft: PolicyDraft) => void) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const write = useWriteDraft();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ isChanged, ...written }: Written & { isChanged: boolean }) => {
      if (isChanged) onWritten(await write.mutateAsync(written));
      return (await policy.compilePolicyDraft({ params: { id } })).body;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: [id, 'policy', 'draft'] }),
  });
}
