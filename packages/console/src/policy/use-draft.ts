import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PolicyDraft } from '@countersign/contracts/control-plane';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';

type Written = { text: string; version: number };

/** Writes the draft if the stored version is still the one that was read. Version 0 means that no draft exists. */
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

/**
 * Writes the draft if it was changed, then compiles it. `onWritten` gets the stored draft, even when more was typed
 * since.
 */
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
