import type { PublicReceipt } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';

export function ReceiptFacts({ receipt }: { receipt: PublicReceipt }) {
  const { receipt_id, receipt_hash, prev_hash, policy_hash, key_id } = receipt;
  const copied = { receipt_id, receipt_hash, prev_hash, policy_hash, key_id };
  return (
    <section aria-labelledby="published">
      <h2 id="published">What is published about this receipt</h2>
      <dl className="facts">
        <dt>Verdict</dt>
        <dd>
          <VerdictMark verdict={receipt.verdict} /> <code>{receipt.reason_code}</code>
        </dd>
        <dt>Kind</dt>
        <dd>
          {receipt.kind} <Mark tone="plain">{receipt.status}</Mark>
        </dd>
        <dt>Recorded</dt>
        <dd>
          <Moment at={receipt.issued_at} /> (rounded down to the minute)
        </dd>
        <dt>Place</dt>
        <dd>
          {receipt.lamport_clock} in its session, {receipt.log.index} in the log
        </dd>
        <dt>Policy</dt>
        <dd>version {receipt.policy_epoch}</dd>
        {Object.entries(copied).map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text === null ? 'none' : <CopyText text={text} />}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
