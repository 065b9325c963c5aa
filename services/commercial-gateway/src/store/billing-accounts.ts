import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

/**
 * Locks the billing account of an organisation until the transaction ends, and creates it at first. Every posting begins with this
 * lock, so the postings of one organisation are serial and see each other's balances.
 */
export async function lockBillingAccount(tx: Tx, orgId: OrgId, now: Date): Promise<void> {
  await tx.billingAccount.createMany({ data: { orgId, lastInvoiceNumber: 0, createdAt: now }, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM billing_accounts WHERE org_id = ${orgId} FOR UPDATE`;
}

/** The next invoice number. The caller holds the lock of the account, and a rollback returns the number: there are no gaps. */
export async function takeInvoiceNumber(tx: Tx, orgId: OrgId): Promise<number> {
  const data = { lastInvoiceNumber: { increment: 1 } };
  const { lastInvoiceNumber } = await tx.billingAccount.update({ where: { orgId }, data });
  return lastInvoiceNumber;
}
