import { Link } from '@tanstack/react-router';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';

export function ReceiptTable({ receipts }: { receipts: StoredReceipt[] }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Receipts">
      <table>
        <thead>
          <tr>
            <th>Sealed</th>
            <th>Verdict</th>
            <th>Call</th>
            <th className="wide">Reason</th>
            <th className="wide">Principal</th>
          </tr>
        </thead>
        <tbody>
          {receipts.map((receipt) => (
            <Row key={receipt.payload.receipt_id} receipt={receipt} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ receipt: { payload } }: { receipt: StoredReceipt }) {
  const { receipt_id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id } = payload;
  return (
    <tr data-id={receipt_id}>
      <td className="tight">
        <Moment at={issued_at} />
      </td>
      <td className="tight">
        {kind === 'decision' ? <VerdictMark verdict={verdict} /> : <Mark tone="plain">{outcome ?? kind}</Mark>}
      </td>
      <td>
        <Link to={`/receipts/${receipt_id}`}>
          <Shown text={tool ?? action} />
        </Link>
      </td>
      <td className="tight wide">
        <code>{reason_code}</code>
      </td>
      <td className="wide">
        <Shown text={principal_id} />
      </td>
    </tr>
  );
}
