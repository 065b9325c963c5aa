import { AppError } from '@countersign/contracts';
import type { CreditGrantKind } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { creditGrantEntries } from '../billing/ledger-entries.ts';
import { publishCreditGrantUpdated } from '../events.ts';
import { newCreditGrantId, newLedgerTransactionId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { findCreditGrant, insertCreditGrant, type StoredCreditGrant } from '../store/credit-grants.ts';
import { findTransaction, postTransaction, type PostedTransaction } from '../store/ledger.ts';
import { auditCreditGrant } from './audit-credit-grant.ts';

type NewCredit = {
  kind: CreditGrantKind;
  currency: string;
  amountMinor: bigint;
  /** `null` when the grant does not expire. */
  expiresAt: Date | null;
  reason: string;
  /** Identifies the grant. Each reference is posted only once. */
  reference: string;
};

/** Creates a credit grant and posts it. A repeated reference returns the first grant. */
export function grantCredit(deps: BillingDeps, credit: NewCredit, caller: BillingCaller): Promise<StoredCreditGrant> {
  return inBillingAccount(deps, caller.orgId, (tx, at) => grantCreditIn(tx, deps, { ...credit, at }, caller));
}

/** Like `grantCredit`, in the caller's transaction, which must hold the lock of the billing account. */
export async function grantCreditIn(
  tx: Tx,
  deps: BillingDeps,
  { reference, at, ...credit }: NewCredit & { at: Date },
  caller: BillingCaller,
): Promise<StoredCreditGrant> {
  const { orgId } = caller;
  const key = { orgId, kind: 'credit_grant', reference } as const;
  const posted = await findTransaction(tx, key);
  if (posted !== null) return requireSame(await findCreditGrant(tx, orgId, grantIdOf(posted)), credit);
  if (credit.amountMinor < 1n)
    throw new AppError('INVALID_REQUEST', 'amount_minor must be at least 1', { param: 'amount_minor' });
  if (credit.expiresAt !== null && credit.expiresAt <= at)
    throw new AppError('INVALID_REQUEST', 'expires_at must be in the future', { param: 'expires_at' });
  const grant = { id: newCreditGrantId(), orgId, ...credit, remainingMinor: credit.amountMinor, createdAt: at };
  await insertCreditGrant(tx, grant);
  const entries = creditGrantEntries(credit.kind, grant);
  const of = { ...key, invoiceId: null, reversesId: null };
  await postTransaction(tx, { id: newLedgerTransactionId(), ...of, entries, createdAt: at });
  await publishCreditGrantUpdated(tx, deps, grant);
  await auditCreditGrant(tx, grant, { action: 'created', caller, at });
  return grant;
}

/** Returns the grant that was posted with this reference. */
export async function findGrantOf(tx: Tx, orgId: OrgId, reference: string): Promise<StoredCreditGrant | null> {
  const posted = await findTransaction(tx, { orgId, kind: 'credit_grant', reference });
  return posted === null ? null : await findCreditGrant(tx, orgId, grantIdOf(posted));
}

function grantIdOf({ id, entries }: PostedTransaction): string {
  const grantId = entries.find(({ creditGrantId }) => creditGrantId !== null)?.creditGrantId ?? null;
  if (grantId === null) throw new Error(`Ledger transaction ${id} names no credit grant`);
  return grantId;
}

/** Throws IDEMPOTENCY_KEY_REUSED when the reference belongs to a grant with other terms. */
function requireSame(
  grant: StoredCreditGrant | null,
  { kind, currency, amountMinor }: Pick<NewCredit, 'kind' | 'currency' | 'amountMinor'>,
): StoredCreditGrant {
  if (grant?.kind === kind && grant.currency === currency && grant.amountMinor === amountMinor) return grant;
  throw new AppError('IDEMPOTENCY_KEY_REUSED', 'The reference was used for another credit grant. Use a new one', {
    param: 'reference',
  });
}
