import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ApprovalId } from '@countersign/contracts';
import { listApprovals, type Approval } from '@countersign/contracts/governance-kernel';
import { workspaceClient } from '../api/clients.ts';
import { stateTones, stateWords } from '../inbox/approval-states.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

const routes = { listApprovals };

/** The approval that a call requested, used or presented. */
export function ApprovalOfCall({ id }: { id: ApprovalId }) {
  const { id: workspaceId } = useWorkspace();
  const client = useMemo(() => workspaceClient(routes, workspaceId), [workspaceId]);
  const approval = useQuery({
    queryKey: [workspaceId, 'approvals', 'of a call', id],
    queryFn: async ({ signal }) =>
      (await client.listApprovals({ query: { approval_id: id, omit: 'args' }, signal })).body.data[0] ?? null,
  });
  return (
    <section aria-label="Approval">
      <h2>Approval</h2>
      <Loaded query={approval}>
        {(found) =>
          found === null ? (
            <p className="quiet">
              No approval with the id <CopyText text={id} /> is kept.
            </p>
          ) : (
            <Facts approval={found} />
          )
        }
      </Loaded>
    </section>
  );
}

function Facts({ approval }: { approval: Approval }) {
  const { approval_id: id, state, quorum, approved_by: by, rejection_reason: why, break_glass: glass } = approval;
  return (
    <dl className="facts boxed">
      <dt>State</dt>
      <dd>
        <Mark tone={stateTones[state]}>{stateWords[state]}</Mark>{' '}
        {state === 'pending' && (
          <>
            until <Moment at={approval.expires_at} /> · <Link to="/inbox">Open the inbox</Link>
          </>
        )}
      </dd>
      <dt>Votes</dt>
      <dd>
        {by.length} of {quorum}
        {by.length > 0 && (
          <>
            : <Shown text={by.join(', ')} />
          </>
        )}
        {glass !== null && ', alone by emergency access'}
      </dd>
      {why !== null && (
        <>
          <dt>Reason</dt>
          <dd>
            <Shown text={why} />
          </dd>
        </>
      )}
      <dt>Requested</dt>
      <dd>
        <Moment at={approval.created_at} />
      </dd>
      <dt>Approval</dt>
      <dd>
        <CopyText text={id} />
      </dd>
    </dl>
  );
}
