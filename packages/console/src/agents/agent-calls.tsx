import { Link } from '@tanstack/react-router';
import type { PrincipalId } from '@countersign/contracts';
import { Loaded } from '../parts/loaded.tsx';
import { DecisionTable } from '../parts/decision-table.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

const rowsMax = 8;
const refetchMs = 5_000;

export function AgentCalls({ principal }: { principal: PrincipalId }) {
  const receipts = useWorkspaceQuery(
    ['receipts', 'latest', principal],
    (client, signal) => client.listReceipts({ query: { kind: 'decision', agent: principal, limit: rowsMax }, signal }),
    { everyMs: refetchMs },
  );
  return (
    <section aria-label="Latest calls">
      <div className="section-head">
        <h2>Latest calls</h2>
        <Link to="/activity" search={{ agent: principal }}>
          All calls
        </Link>
      </div>
      <Loaded query={receipts}>
        {({ data }) => (data.length === 0 ? <p className="quiet">No calls yet.</p> : <DecisionTable receipts={data} />)}
      </Loaded>
    </section>
  );
}
