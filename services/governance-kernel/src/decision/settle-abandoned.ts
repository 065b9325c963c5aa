import type { BudgetId } from '@countersign/contracts';
import type { ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { storedReceiptOf } from '../ledger/statement.ts';
import type { BoundaryDeps } from './boundary.ts';
import { concludeSettlement, wantedForSettlement } from './conclude-settlement.ts';

/** An unsettled decision, and the budgets that its call still reserves. */
export type Abandoned = { decided: ReceiptPayload; reserved: readonly BudgetId[] };

/**
 * Seals an unsettled decision as uncertain, because the process that was to dispatch it died. It is unknown whether
 * the call was sent, so it is not repeated, and its reservation is released. Throws ILLEGAL_TRANSITION when it is
 * already settled.
 */
export async function settleAbandoned(
  { ledger, clock, newUlid, settings: { newEvent } }: Pick<BoundaryDeps, 'ledger' | 'clock' | 'newUlid' | 'settings'>,
  { decided, reserved }: Abandoned,
): Promise<StoredReceipt> {
  const nowMs = clock().getTime();
  const ending = { outcome: 'uncertain', outputHash: null, spentMicros: null, abandoned: true } as const;
  const prepared = { ulid: newUlid(nowMs), nowMs, decided, newEvent, ...ending };
  return await ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    wants: wantedForSettlement(decided, reserved),
    conclude: (batch) => {
      const entry = concludeSettlement(batch, prepared);
      return (placeOf) => storedReceiptOf(entry, placeOf(entry));
    },
  });
}
