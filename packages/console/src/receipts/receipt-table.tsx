import type { ReactNode } from 'react';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { LongTable } from '../parts/long-table.tsx';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { Shown } from '../parts/shown.tsx';
import type { Lasting } from '../workspace/read-newest.ts';
import type { LastingList } from '../workspace/lasting-list.ts';

type Payload = StoredReceipt['payload'];
type Members = 'issued_at' | 'kind' | 'verdict' | 'outcome' | 'tool' | 'action' | 'reason_code' | 'principal_id';
/** What a list shows of a receipt. */
export type ReceiptRow = Pick<Payload, Members> & { id: Payload['receipt_id'] };

export function receiptRowOf({ payload }: StoredReceipt): ReceiptRow {
  const { receipt_id: id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id } = payload;
  return { id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id };
}

const columns = [
  { title: 'Sealed', className: 'when' },
  { title: 'Verdict', className: 'verdict' },
  { title: 'Call' },
  { title: 'Reason', className: 'wide' },
  { title: 'Principal', className: 'wide' },
];

type Props = { list: Lasting<ReceiptRow>; older: LastingList<ReceiptRow>['older'] };

export function ReceiptTable({ list, older }: Props) {
  return <LongTable label="Receipts" columns={columns} cells={Cells} list={list} older={older} />;
}

function Cells({ row }: { row: ReceiptRow }) {
  const { id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id } = row;
  return (
    <>
      <Cell>
        <Moment at={issued_at} />
      </Cell>
      <Cell>
        {kind === 'decision' ? <VerdictMark verdict={verdict} /> : <Mark tone="plain">{outcome ?? kind}</Mark>}
      </Cell>
      <Cell>
        <RowLink to={`/receipts/${id}`}>
          <Shown text={tool ?? action} />
        </RowLink>
      </Cell>
      <Cell className="wide">
        <code>{reason_code}</code>
      </Cell>
      <Cell className="wide">
        <Shown text={principal_id} />
      </Cell>
    </>
  );
}

/** As high as every other one, so that nothing is measured: what has no room stands whole in the receipt itself. */
function Cell({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <td className={className}>
      <div className="brief">{children}</div>
    </td>
  );
}
