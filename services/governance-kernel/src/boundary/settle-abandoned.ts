import type { BudgetId } from '@countersign/contracts';
import type { ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { storedReceiptOf } from '../ledger/statement.ts';
import type { BoundaryParts } from './boundary.ts';
import { concludeSettlement, wantedForSettlement } from './conclude-settlement.ts';

/** An unsettled decision, and the budgets that its call still reserves. */
export type Abandoned = { decided: ReceiptPayload; held: readonly BudgetId[] };

/**
 * Seals an unsettled decision as uncertain, because the process that was to dispatch it died. Whether the call was sent
 * cannot be known, so it is not repeated, and what it held goes back. Throws ILLEGAL_TRANSITION when it is settled
 * already.
 */
export async function settleAbandoned(
  { ledger, clock, newUlid, settings: { newEvent } }: Pick<BoundaryParts, 'ledger' | 'clock' | 'newUlid' | 'settings'>,
  { decided, held }: Abandoned,
): Promise<StoredReceipt> {
  const nowMs = clock().getTime();
  const ending = { outcome: 'uncertain', outputHash: null, spentMicros: null, abandoned: true } as const;
  const prepared = { ulid: newUlid(nowMs), nowMs, decided, newEvent, ...ending };
  return await ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    wants: wantedForSettlement(decided, held),
    conclude: (batch) => {
      const entry = concludeSettlement(batch, prepared);
      return (placeOf) => storedReceiptOf(entry, placeOf(entry));
    },
  });
}
