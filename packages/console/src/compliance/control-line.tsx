import { IconCircleCheck, IconCircleDashed, IconCircleHalf2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { quantityOf } from '../commercial/amounts.ts';
import type { Control } from './words.ts';

const looks = {
  evidenced: { says: 'Evidenced', tone: 'calm', Symbol: IconCircleCheck },
  partial: { says: 'Partial', tone: 'wait', Symbol: IconCircleHalf2 },
  no_evidence: { says: 'No evidence', tone: 'plain', Symbol: IconCircleDashed },
} as const;

/** One control: its state as symbol and word, what it counts, what is missing, and the receipts that it cites. */
export function ControlLine({ control }: { control: Control }) {
  const { control_id, title, asks, adds, status, receipts, audit_entries, evidence, gaps } = control;
  const { says, tone, Symbol } = looks[status];
  return (
    <details className="control">
      <summary>
        <code>{control_id}</code>
        <span className="clip">{title}</span>
        <span className="quiet">{countsInWords(receipts, audit_entries)}</span>
        <span className={`mark mark-${tone}`}>
          <Symbol size={14} aria-hidden="true" />
          {says}
        </span>
      </summary>
      <dl className="facts">
        <dt>Asks for</dt>
        <dd>{asks}</dd>
        <dt>Shown here</dt>
        <dd>{adds}</dd>
        <dt>Counted</dt>
        <dd>
          <ul>
            {evidence.map((kind) => (
              <li key={kind.name}>
                {kind.shows} <span className="quiet">{countsInWords(kind.receipts, kind.audit_entries)}</span>
              </li>
            ))}
          </ul>
        </dd>
        <dt>Missing</dt>
        <dd>
          {gaps.length === 0 ? (
            'Nothing that receipts can show'
          ) : (
            <ul>
              {gaps.map((gap) => (
                <li key={gap}>{gap}</li>
              ))}
            </ul>
          )}
        </dd>
        <dt>Cited</dt>
        <dd>
          <Cited control={control} />
        </dd>
      </dl>
    </details>
  );
}

/** A receipt opens in the workspace that contains it. */
function Cited({ control: { cited_receipts, cited_audit_entries } }: { control: Control }) {
  if (cited_receipts.length === 0 && cited_audit_entries.length === 0) return <>Nothing</>;
  const own = cited_audit_entries.filter(({ chain }) => chain === undefined).map(({ seq }) => seq);
  const ofWorkspaces = cited_audit_entries.flatMap(({ seq, chain }) =>
    chain === undefined ? [] : [`${seq} of ${chain.workspace_id} at the ${chain.service}`],
  );
  return (
    <>
      <p className="cited">
        {cited_receipts.map(({ workspace_id, receipt_id }) => (
          <Link key={receipt_id} to="/activity/$id" params={{ id: receipt_id }} search={{ workspace: workspace_id }}>
            {receipt_id}
          </Link>
        ))}
      </p>
      {own.length > 0 && <p>Entries of the audit chain of the organisation: {own.join(', ')}</p>}
      {ofWorkspaces.length > 0 && <p>Entries of audit chains of workspaces: {ofWorkspaces.join(', ')}</p>}
    </>
  );
}

function countsInWords(receipts: number, entries: number): string {
  const words = [
    `${quantityOf(receipts)} ${receipts === 1 ? 'receipt' : 'receipts'}`,
    ...(entries === 0 ? [] : [`${quantityOf(entries)} audit ${entries === 1 ? 'entry' : 'entries'}`]),
  ];
  return words.join(', ');
}
