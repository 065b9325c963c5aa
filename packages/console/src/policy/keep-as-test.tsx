import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { visibleText } from '@countersign/contracts';
import type { Changed, PolicyDraft } from '@countersign/contracts/control-plane';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** Keeps what was decided as a test of the draft: from then on the draft has to decide the same. */
export function KeepAsTest({ changed, draft }: { changed: Changed; draft: PolicyDraft }) {
  const { client, id } = useWorkspace();
  const queries = useQueryClient();
  const { receipt_id, before } = changed;
  const what = visibleText(changed.tool ?? changed.action);
  const keep = useMutation({
    mutationFn: async () => {
      const body = {
        receipt_id,
        expect: { verdict: before },
        name: `${before} of ${what}, ${receipt_id}`.slice(0, 256),
      };
      const headers = { 'if-match': `"${draft.version}"` };
      return (await client.createPolicyTest({ params: { id }, body, headers })).body;
    },
    onSuccess: ({ draft: written }) => queries.setQueryData([id, 'policy', 'draft'], { draft: written, templates: [] }),
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        loading={keep.isPending}
        aria-label={`Keep ${before} of ${what} as a test`}
        onClick={() => keep.mutate()}
      >
        Keep {before}
      </Button>
      {keep.error !== null && <ProblemNote error={keep.error} />}
    </>
  );
}
