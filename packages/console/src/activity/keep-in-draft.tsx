import { Link } from '@tanstack/react-router';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { Loaded } from '../parts/loaded.tsx';
import { KeepAsTest } from '../policy/keep-as-test.tsx';
import { usePolicy } from '../policy/use-policy.ts';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';

/** Offers to keep this decision as a test of the policy draft. */
export function KeepInDraft({ receipt: { payload } }: { receipt: StoredReceipt }) {
  const { id } = useWorkspace();
  const policy = usePolicy();
  const draft = useWorkspaceQuery(['policy', 'draft'], (_, signal) =>
    policy.getPolicyDraft({ params: { id }, signal }),
  );
  if (payload.kind !== 'decision') return null;
  return (
    <section aria-label="Test of the draft">
      <h2>Test of the draft</h2>
      <Loaded query={draft}>
        {({ draft: written }) =>
          written === null ? (
            <p className="quiet">
              No policy draft yet. <Link to="/policy">Start a draft</Link>
            </p>
          ) : (
            <KeepAsTest example={payload} draft={written} />
          )
        }
      </Loaded>
    </section>
  );
}
