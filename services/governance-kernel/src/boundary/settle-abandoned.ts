import type { ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { storedReceiptOf } from '../ledger/statement.ts';
import type { BoundaryParts } from './boundary.ts';
import { concludeSettlement, ulidOf } from './conclude-settlement.ts';

/**
 * Seals a decision as uncertain that nobody settled, because the process that was to dispatch it died. Whether the call was sent
 * cannot be known, so it is not repeated, and what it held goes back. Throws ILLEGAL_TRANSITION when it is settled already.
 */
export async function settleAbandoned(
  { ledger, clock, newUlid }: Pick<BoundaryParts, 'ledger' | 'clock' | 'newUlid'>,
  decided: ReceiptPayload,
): Promise<StoredReceipt> {
  const nowMs = clock().getTime();
  const ending = { outcome: 'uncertain', outputHash: null, spentMinor: null, abandoned: true } as const;
  const prepared = { ulid: newUlid(nowMs), nowMs, decided, ...ending };
  const entry = await ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    reads: { dispatch: ulidOf(decided.decision_id), budgetsOf: decided.tenant_id },
    conclude: (batch) => concludeSettlement(batch, prepared),
  });
  return storedReceiptOf(entry);
}
