import { reasonCodes, ReceiptId } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark, VerdictMark } from '../parts/mark.tsx';
import { Page } from '../parts/page.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import { ShownJson } from '../parts/shown.tsx';
import { useNameOf } from '../parts/who.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { ApprovalOfCall } from './approval-of-call.tsx';
import { DownloadReceipt } from './download-receipt.tsx';
import { HowDecided, sentenceOf } from './how-decided.tsx';
import { InItsSession } from './in-its-session.tsx';
import { kindInWords } from './kind-words.ts';
import { KeepInDraft } from './keep-in-draft.tsx';
import { PublicLink } from './public-link.tsx';
import { ReceiptCall } from './receipt-call.tsx';
import { ReceiptProof } from './receipt-proof.tsx';
import { SimilarCalls } from './similar-calls.tsx';
import { useRecord } from './use-record.ts';

const above = { title: 'Activity', to: '/activity', keepsSearch: true } as const;

/** `/activity/{receipt_id}`: why a call got its decision, and whether its receipt is genuine. */
export function ReceiptPage({ id }: { id: string }) {
  const name = ReceiptId.safeParse(id);
  if (name.success) return <KnownReceipt id={name.data} />;
  return (
    <Page title="Unknown receipt" above={above}>
      <EmptyState title="No receipt has this id">Pick one from the list of activity.</EmptyState>
    </Page>
  );
}

function KnownReceipt({ id }: { id: ReceiptId }) {
  const receipt = useWorkspaceQuery(['receipt', id], (client, signal) =>
    client.getReceipt({ params: { receipt_id: id }, signal }),
  );
  const payload = receipt.data?.payload;
  const caller = useNameOf(payload?.principal_id ?? '');
  return (
    <Page
      title={payload === undefined ? 'Receipt' : sentenceOf(payload, caller)}
      above={above}
      state={payload && <Decided payload={payload} />}
      about={
        payload && (
          <>
            {reasonSays(payload.reason_code)} <code>{payload.reason_code}</code>
          </>
        )
      }
    >
      <Loaded query={receipt}>{(found) => <Receipt receipt={found} />}</Loaded>
    </Page>
  );
}

function Decided({ payload: { kind, verdict, outcome } }: { payload: StoredReceipt['payload'] }) {
  return kind === 'decision' ? (
    <VerdictMark verdict={verdict} />
  ) : (
    <Mark tone="plain">{kindInWords({ kind, outcome })}</Mark>
  );
}

function Receipt({ receipt }: { receipt: StoredReceipt }) {
  const { kind, verdict, reason_code: reason, receipt_id: id } = receipt.payload;
  const record = useRecord(id);
  const isDecision = kind === 'decision';
  const approval = receipt.payload.approval_id ?? record.data?.approval_id ?? null;
  return (
    <div className="two-columns receipt">
      <div>
        {verdict !== 'ALLOW' && (
          <section className="note" aria-label="What you can do">
            <p>
              <strong>What you can do</strong>: {reasonCodes[reason].nextStep}
            </p>
          </section>
        )}
        {isDecision && <HowDecided record={record} />}
        <ReceiptCall receipt={receipt} record={record.data ?? null} />
        {approval !== null && <ApprovalOfCall id={approval} />}
        <InItsSession receipt={receipt} />
        {isDecision && <SimilarCalls receipt={receipt} />}
      </div>
      <div>
        <ReceiptProof receipt={receipt} />
        <DownloadReceipt receipt={receipt} />
        <KeepInDraft receipt={receipt} />
        <PublicLink receipt={receipt} />
        <section aria-label="Receipt as JSON">
          <h2>Receipt as JSON</h2>
          <ShownJson value={receipt} label="The receipt as it is served" />
        </section>
      </div>
    </div>
  );
}
