import { Link } from '@tanstack/react-router';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { FirstCall } from '../parts/first-call.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';

const rowsMax = 8;
const refetchMs = 3_000;

/** The latest decisions; before there is one, how to get it. */
export function LatestDecisions() {
  const receipts = useWorkspaceQuery(
    ['receipts', 'latest'],
    (client, signal) => client.listReceipts({ query: { kind: 'decision', limit: rowsMax }, signal }),
    { everyMs: refetchMs },
  );
  return (
    <section aria-label="Latest decisions">
      <div className="section-head">
        <h2>Latest decisions</h2>
        <Link to="/receipts">All receipts</Link>
      </div>
      <Loaded query={receipts}>
        {({ data }) => (data.length === 0 ? <FirstCall /> : <Decisions receipts={data} />)}
      </Loaded>
    </section>
  );
}

function Decisions({ receipts }: { receipts: StoredReceipt[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Decisions">
      <table>
        <tbody>
          {receipts.map(({ payload }) => (
            <tr key={payload.receipt_id}>
              <td className="tight quiet">
                <Moment at={payload.issued_at} />
              </td>
              <td className="tight">
                <VerdictMark verdict={payload.verdict} />
              </td>
              <td className="tight">
                <RowLink to={`/receipts/${payload.receipt_id}`}>
                  <code>
                    <Shown text={payload.tool ?? payload.action} />
                  </code>
                </RowLink>
              </td>
              <td className="wide">
                <Shown text={payload.principal_id} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
