import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { creditExpiryEntries } from '../billing/ledger-entries.ts';
import { publishCreditGrantUpdated } from '../events.ts';
import { newLedgerTransactionId } from '../ids.ts';
import { listExpiredCredits, spendCredits, type StoredCreditGrant } from '../store/credit-grants.ts';
import { postTransaction } from '../store/ledger.ts';
import { auditCreditGrant } from './audit-credit-grant.ts';

/** Posts the unused rest of the expired grants of an organisation as revenue. Returns these grants. */
export function expireCredits(deps: BillingDeps, caller: BillingCaller): Promise<StoredCreditGrant[]> {
  const { orgId } = caller;
  return inBillingAccount(deps, orgId, async (tx, at) => {
    const grants = await listExpiredCredits(tx, orgId, at);
    for (const grant of grants) {
      const id = newLedgerTransactionId();
      await spendCredits(tx, orgId, [{ grant, amountMinor: grant.remainingMinor }]);
      // A voided invoice can return credits to an expired grant, whose rest then expires again. The transaction ID
      // makes each reference unique.
      const of = {
        orgId,
        kind: 'credit_expiry',
        reference: `${grant.id}:${id}`,
        invoiceId: null,
        reversesId: null,
      } as const;
      await postTransaction(tx, { id, ...of, entries: creditExpiryEntries(grant), createdAt: at });
      const expired = { ...grant, remainingMinor: 0n };
      await publishCreditGrantUpdated(tx, deps, expired);
      await auditCreditGrant(tx, expired, { action: 'expired', caller, at });
    }
    return grants;
  });
}
