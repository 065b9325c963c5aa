import { FirstCall } from '../parts/first-call.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';

const shownMax = 6;
const askAgainMs = 3_000;

/** The latest decisions; before there is one, how to get it. */
export function LatestReceipts() {
  const receipts = useWorkspaceQuery(
    ['receipts', 'latest'],
    (client, signal) => client.listReceipts({ query: { kind: 'decision', limit: shownMax }, signal }),
    { everyMs: askAgainMs },
  );
  return (
    <section aria-label="Latest receipts">
      <h2>Latest receipts</h2>
      <Loaded query={receipts}>
        {({ data }) => (data.length === 0 ? <FirstCall /> : <Receipts receipts={data} />)}
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
                <VerdictMark verdict={payload.verdict} />
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
