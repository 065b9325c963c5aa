import { CheckoutId, InvoiceId } from '@countersign/contracts';
import { BillingPlanId, PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { CheckoutModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

type StoredCheckout = Omit<CheckoutModel, 'id' | 'orgId' | 'provider' | 'planId' | 'invoiceId'> & {
  id: CheckoutId;
  orgId: OrgId;
  provider: PaymentProviderName;
  planId: BillingPlanId | null;
  invoiceId: InvoiceId | null;
};

export async function insertCheckout(tx: Tx, checkout: StoredCheckout): Promise<void> {
  await tx.checkout.create({ data: checkout });
}

export async function findCheckout(reader: Reader, orgId: OrgId, id: string): Promise<StoredCheckout | null> {
  const row = await reader.checkout.findFirst({ where: { orgId, id } });
  return row === null ? null : checkoutOf(row);
}

/** Returns true while the payer of an invoice may be on the page of the provider. */
export async function hasOpenCheckout(
  reader: Reader,
  { orgId, invoiceId }: { orgId: OrgId; invoiceId: InvoiceId },
  createdAfter: Date,
): Promise<boolean> {
  const where = { orgId, invoiceId, completedAt: null, createdAt: { gt: createdAfter } };
  return (await reader.checkout.count({ where })) > 0;
}

export async function completeCheckout(tx: Tx, { id, orgId }: StoredCheckout, completedAt: Date): Promise<void> {
  await tx.checkout.updateMany({ where: { id, orgId, completedAt: null }, data: { completedAt } });
}

function checkoutOf({ id, orgId, provider, planId, invoiceId, ...rest }: CheckoutModel): StoredCheckout {
  return {
    ...rest,
    id: CheckoutId.parse(id),
    orgId: OrgId.parse(orgId),
    provider: PaymentProviderName.parse(provider),
    planId: BillingPlanId.nullable().parse(planId),
    invoiceId: InvoiceId.nullable().parse(invoiceId),
  };
}
