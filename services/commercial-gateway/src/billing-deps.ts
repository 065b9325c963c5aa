import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import type { EntitlementTerms } from './entitlements/entitlement-terms.ts';
import { lockBillingAccount } from './store/billing-accounts.ts';
import type { Transaction, Tx } from './store/database.ts';

/** Dependencies of every operation that changes money or a subscription. */
export type BillingDeps = {
  transaction: Transaction;
  newEvent: NewEvent;
  now: () => Date;
  /** Used to compute the event `entitlement.changed.v1` of each change. */
  entitlementTerms: EntitlementTerms;
};

/** The organisation of a call and the author of the audit entry. */
export type BillingCaller = { orgId: OrgId; actor: string; requestId: string | null };

/** Runs `work` in one transaction that holds the lock of the billing account. */
export function inBillingAccount<Result>(
  { transaction, now }: Pick<BillingDeps, 'transaction' | 'now'>,
  orgId: OrgId,
  work: (tx: Tx, at: Date) => Promise<Result>,
): Promise<Result> {
  return transaction(async (tx) => {
    const at = now();
    await lockBillingAccount(tx, orgId, at);
    return await work(tx, at);
  });
}
