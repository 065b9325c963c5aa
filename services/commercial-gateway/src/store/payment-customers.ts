import type { PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

type Place = { orgId: OrgId; provider: PaymentProviderName };

type StoredCustomer = { id: string; methodId: string | null };

export async function findCustomer(reader: Reader, { orgId, provider }: Place): Promise<StoredCustomer | null> {
  const row = await reader.paymentCustomer.findUnique({ where: { orgId_provider: { orgId, provider } } });
  return row === null ? null : { id: row.customerId, methodId: row.methodId };
}

/** Returns the organisation of a customer. `null` for an unknown customer, such as one of another installation. */
export async function findOrgOfCustomer(
  reader: Reader,
  { provider, customerId }: { provider: PaymentProviderName; customerId: string },
): Promise<OrgId | null> {
  const where = { provider_customerId: { provider, customerId } };
  const row = await reader.paymentCustomer.findUnique({ where, select: { orgId: true } });
  return row === null ? null : OrgId.parse(row.orgId);
}

/** Stores the customer of an organisation, unless it already has one. Returns the stored customer. */
export async function insertCustomer(
  tx: Tx,
  { orgId, provider, customerId, createdAt }: Place & { customerId: string; createdAt: Date },
): Promise<StoredCustomer> {
  const data = { orgId, provider, customerId, methodId: null, createdAt };
  await tx.paymentCustomer.createMany({ data, skipDuplicates: true });
  const row = await tx.paymentCustomer.findUniqueOrThrow({ where: { orgId_provider: { orgId, provider } } });
  return { id: row.customerId, methodId: row.methodId };
}

export async function setPaymentMethod(tx: Tx, { orgId, provider }: Place, methodId: string): Promise<void> {
  await tx.paymentCustomer.updateMany({ where: { orgId, provider }, data: { methodId } });
}
