import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { visibleText, type Verdict } from '@countersign/contracts';
import type { PolicyDraft } from '@countersign/contracts/control-plane';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';

type Example = { receipt_id: string; verdict: Verdict; tool: string | null; action: string };

/** Keeps a decision as a test of the draft. From then on, the draft must decide the same. */
export function KeepAsTest({ example, draft }: { example: Example; draft: PolicyDraft }) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const queries = useQueryClient();
  const { receipt_id, verdict } = example;
  const what = visibleText(example.tool ?? example.action);
  const keep = useMutation({
    mutationFn: async () => {
      const body = { receipt_id, expect: { verdict }, name: `${verdict} of ${what}, ${receipt_id}`.slice(0, 256) };
      const headers = { 'if-match': `"${draft.version}"` };
      return (await policy.createPolicyTest({ params: { id }, body, headers })).body;
    },
    onSuccess: ({ draft: written }) => queries.setQueryData([id, 'policy', 'draft'], { draft: written, templates: [] }),
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        loading={keep.isPending}
        aria-label={`Keep ${verdict} of ${what} as a test`}
        onClick={() => keep.mutate()}
      >
        Keep {verdict}
      </Button>
      {keep.data !== undefined && (
        <span role="status" className="quiet">
          {keptWords(keep.data, draft)}
        </span>
      )}
      {keep.error !== null && <ProblemNote error={keep.error} />}
    </>
  );
}

type Kept = { draft: PolicyDraft; passes: boolean };

/** The result is known only for the version of the draft that the test was added to. */
function keptWords({ draft: { version }, passes }: Kept, now: PolicyDraft): string {
  if (version !== now.version) return 'Kept. The draft has changed, so compile it to see whether the test passes.';
  return passes ? 'Kept. The test passes with this draft.' : 'Kept. The test fails with this draft.';
}
