import { Link } from '@tanstack/react-router';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';

const shownMax = 6;
const askAgainMs = 3_000;

/** What an agent would send; the key is one of this workspace. */
const command = () => `curl -sS ${location.origin}/api/v1/evaluate \\
  -H "Authorization: Bearer $AGENT_KEY" -H 'Content-Type: application/json' \\
  -d '{"action":"tool.call","tool":"web.search","args":{"q":"countersign"}}'`;

/** The latest receipts; before there is one, how to get it. */
export function FirstCall() {
  const receipts = useWorkspaceQuery(
    ['receipts', 'latest'],
    (client, signal) => client.listReceipts({ query: { limit: shownMax }, signal }),
    { everyMs: askAgainMs },
  );
  return (
    <section aria-label="Latest receipts">
      <h2>Latest receipts</h2>
      <Loaded query={receipts}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No call has crossed the boundary yet" command={command()}>
              <Link to="/members">Make a key</Link> for this workspace, put it into AGENT_KEY, and send a first call.
              Its receipt appears here.
            </EmptyState>
          ) : (
            <Receipts receipts={data} />
          )
        }
      </Loaded>
    </section>
  );
}

function Receipts({ receipts }: { receipts: StoredReceipt[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Receipts">
      <table>
        <tbody>
          {receipts.map(({ payload }) => (
            <tr key={payload.receipt_id}>
              <td className="tight">
                <Moment at={payload.issued_at} />
              </td>
              <td className="tight">
                {payload.kind === 'decision' ? (
                  <VerdictMark verdict={payload.verdict} />
                ) : (
                  <Mark tone="plain">{payload.kind}</Mark>
                )}
              </td>
              <td>
                <Shown text={payload.tool ?? payload.action} />
              </td>
              <td>
                <Shown text={payload.principal_id} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
