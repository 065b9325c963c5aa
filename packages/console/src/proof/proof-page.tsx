import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isAppError } from '@countersign/contracts';
import { followKeys } from '../keys/shortcuts.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { ApprovalFacts } from './approval-facts.tsx';
import { proofClient } from './proof-client.ts';
import { ReceiptFacts } from './receipt-facts.tsx';
import { ReplayFacts } from './replay-facts.tsx';
import { ReceiptProof } from './receipt-proof.tsx';

/** `/p/{handle}`: evidence that a workspace has published. Visitors need the link and no session. */
export function ProofPage() {
  const { handle }: { handle?: string } = useParams({ strict: false });
  useEffect(() => followKeys(document), []);
  const published = useQuery({
    queryKey: ['published', handle],
    queryFn: ({ signal }) => readPublished(handle ?? '', signal),
    // Never stale: the evidence is about the past, and must not change while it is printed.
    staleTime: Infinity,
  });
  return (
    <Page title="Public proof" about="Evidence published by a workspace. You can check it without an account.">
      <Loaded query={published}>{(found) => <Published found={found} />}</Loaded>
    </Page>
  );
}

type Found = Awaited<ReturnType<typeof readPublished>>;

/** A handle does not show what it names, so each kind of evidence is tried. */
async function readPublished(handle: string, signal: AbortSignal) {
  const receipt = await orNull(proofClient.getPublicReceipt({ params: { receiptId: handle }, signal }));
  if (receipt !== null) return { kind: 'receipt' as const, receipt: receipt.body };
  const approval = await orNull(proofClient.getPublicApproval({ params: { approvalId: handle }, signal }));
  if (approval !== null) return { kind: 'approval' as const, approval: approval.body };
  const replay = await orNull(proofClient.getPublicReplay({ params: { replay_id: handle }, signal }));
  return replay === null ? null : { kind: 'replay' as const, replay: replay.body };
}

async function orNull<Answered>(pending: Promise<Answered>): Promise<Answered | null> {
  try {
    return await pending;
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

function Published({ found }: { found: Found }) {
  if (found === null)
    return (
      <EmptyState title="Nothing is public here">
        The link is wrong, has expired or was revoked. Ask the person who sent it.
      </EmptyState>
    );
  if (found.kind === 'approval') return <ApprovalFacts approval={found.approval} />;
  if (found.kind === 'replay') return <ReplayFacts replay={found.replay} />;
  return (
    <>
      <ReceiptFacts receipt={found.receipt} />
      <ReceiptProof receipt={found.receipt} />
    </>
  );
}
