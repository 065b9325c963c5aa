import type { ReactNode } from 'react';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { LongTable } from '../parts/long-table.tsx';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import { RowLink } from '../parts/row-link.tsx';
import { Shown } from '../parts/shown.tsx';
import { Who } from '../parts/who.tsx';
import { kindInWords } from './kind-words.ts';
import type { Lasting } from '../workspace/read-newest.ts';
import type { LastingList } from '../workspace/lasting-list.ts';

type Payload = StoredReceipt['payload'];
type Members = 'issued_at' | 'kind' | 'verdict' | 'outcome' | 'tool' | 'action' | 'reason_code' | 'principal_id';
/** The members of a receipt that a list shows. */
export type ReceiptRow = Pick<Payload, Members> & { id: Payload['receipt_id'] };

export function receiptRowOf({ payload }: StoredReceipt): ReceiptRow {
  const { receipt_id: id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id } = payload;
  return { id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id };
}

const columns = [
  { title: 'Time', className: 'when' },
  { title: 'Decision', className: 'verdict' },
  { title: 'Tool' },
  { title: 'Reason', className: 'wide' },
  { title: 'Agent', className: 'wide' },
];

type Props = { list: Lasting<ReceiptRow>; older: LastingList<ReceiptRow>['older'] };

export function ReceiptTable({ list, older }: Props) {
  return <LongTable label="Activity" columns={columns} cells={Cells} list={list} older={older} />;
}

function Cells({ row }: { row: ReceiptRow }) {
  const { id, issued_at, kind, verdict, outcome, tool, action, reason_code, principal_id } = row;
  return (
    <>
      <Cell>
        <Moment at={issued_at} />
      </Cell>
      <Cell>
        {kind === 'decision' ? (
          <VerdictMark verdict={verdict} />
        ) : (
          <Mark tone="plain">{kindInWords({ kind, outcome })}</Mark>
        )}
      </Cell>
      <Cell>
        <RowLink to={`/activity/${id}`}>
          <code>
            <Shown text={tool ?? action} />
          </code>
        </RowLink>
      </Cell>
      <Cell className="wide">
        <span title={reason_code}>{reasonSays(reason_code)}</span>
      </Cell>
      <Cell className="wide">
        <Who actor={principal_id} />
      </Cell>
    </>
  );
}

/** All cells have the same height, so rows need no measuring. The page of the receipt shows the whole text. */
function Cell({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <td className={className}>
      <div className="brief">{children}</div>
    </td>
  );
}
