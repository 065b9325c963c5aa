import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  getApprovalContext,
  similarDays,
  type Approval,
  type SimilarRequests,
} from '@countersign/contracts/governance-kernel';
import { workspaceClient } from '../api/clients.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Moment } from '../parts/moment.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

const title = `Similar calls in ${similarDays} days`;

/** How people decided earlier requests of the same agent for the same tool. */
export function SimilarCalls({ approval: { approval_id } }: { approval: Approval }) {
  const { id } = useWorkspace();
  const context = useQuery({
    queryKey: ['context of an approval', id, approval_id],
    queryFn: async ({ signal }) => {
      const client = workspaceClient({ getApprovalContext }, id);
      return (await client.getApprovalContext({ params: { approval_id }, query: {}, signal })).body.similar;
    },
  });
  return (
    <section aria-label={`${title}, ${approval_id}`}>
      <h3>{title}</h3>
      <Loaded query={context}>{(similar) => <SimilarFacts similar={similar} />}</Loaded>
    </section>
  );
}

function SimilarFacts({ similar }: { similar: SimilarRequests }) {
  const { approved, denied, undecided, has_more: hasMore, latest } = similar;
  if (approved + denied + undecided === 0)
    return <p className="quiet">None. The agent did not request this tool in that time.</p>;
  return (
    <>
      <dl className="facts">
        <dt>Approved</dt>
        <dd>{approved}</dd>
        <dt>Denied</dt>
        <dd>{denied}</dd>
        {undecided > 0 && (
          <>
            <dt>Not decided</dt>
            <dd>{undecided}</dd>
          </>
        )}
        {latest !== null && (
          <>
            <dt>Last decision</dt>
            <dd>
              <Link to="/inbox/$id" params={{ id: latest.approval_id }}>
                {latest.decision === 'approved' ? 'Approved' : 'Denied'}
              </Link>
              , <Moment at={latest.decided_at} />
            </dd>
          </>
        )}
      </dl>
      {hasMore && <p className="quiet">Older requests are not counted.</p>}
    </>
  );
}
