import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { VerdictMark } from './mark.tsx';
import { Moment } from './moment.tsx';
import { RowLink } from './row-link.tsx';
import { Shown } from './shown.tsx';
import { Who } from './who.tsx';

/** A few decisions, one row for each. */
export function DecisionTable({ receipts }: { receipts: StoredReceipt[] }) {
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
                <RowLink to={`/activity/${payload.receipt_id}`}>
                  <code>
                    <Shown text={payload.tool ?? payload.action} />
                  </code>
                </RowLink>
              </td>
              <td className="wide">
                <Who actor={payload.principal_id} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
