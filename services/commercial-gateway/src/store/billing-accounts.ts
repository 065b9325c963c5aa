import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

/**
 * Locks the billing account of an organisation until the transaction ends. Creates the account if it is missing. Every
 * posting begins with this lock, so the postings of one organisation run one after another.
 */
export async function lockBillingAccount(tx: Tx, orgId: OrgId, now: Date): Promise<void> {
  await tx.billingAccount.createMany({ data: { orgId, lastInvoiceNumber: 0, createdAt: now }, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM billing_accounts WHERE org_id = ${orgId} FOR UPDATE`;
}

/**
 * Returns the next invoice number. The caller must hold the lock of the account. A rollback returns the number, so
 * there are no gaps.
 */
export async function takeInvoiceNumber(tx: Tx, orgId: OrgId): Promise<number> {
  const data = { lastInvoiceNumber: { increment: 1 } };
  const { lastInvoiceNumber } = await tx.billingAccount.update({ where: { orgId }, data });
  return lastInvoiceNumber;
}
