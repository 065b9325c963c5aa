import { AppError, type Digest, type Instant } from '@countersign/contracts';
import type { StoredPolicy } from '../policy/policies.ts';
import type { Reader } from './database.ts';

/** In two statements, which is as good as one: what a head names never changes. */
export async function listActivePolicies(reader: Reader, tenants: string[]): Promise<StoredPolicy[]> {
  const heads = await reader.policyHead.findMany({
    where: { tenant_id: { in: tenants } },
    select: { tenant_id: true, epoch: true },
  });
  const rows = await reader.policyBundle.findMany({ where: { OR: heads } });
  return rows.map((row) => ({
    tenant: row.tenant_id,
    epoch: row.epoch,
    hash: row.policy_hash as Digest, // only the kernel writes these rows
    bundle: row.bundle,
    keyId: row.key_id,
    signature: row.signature,
  }));
}

/** When a bundle was last confirmed by its source, whichever it is; null when none is active. */
export async function findLastConfirmation(reader: Reader, { besides }: { besides: string }): Promise<Date | null> {
  const last = await reader.policyHead.findFirst({
    where: { tenant_id: { not: besides } },
    orderBy: { confirmed_at: 'desc' },
    select: { confirmed_at: true },
  });
  return last?.confirmed_at ?? null;
}

/** When this epoch became active; confirmations do not move it. */
export async function getActivationTime(
  reader: Reader,
  { tenant, epoch }: { tenant: string; epoch: number },
): Promise<Instant> {
  const row = await reader.policyBundle.findUnique({ where: { tenant_id_epoch: { tenant_id: tenant, epoch } } });
  if (row === null) throw new AppError('NOT_FOUND', 'This epoch was never activated');
  return row.activated_at.toISOString() as Instant; // toISOString writes exactly this form
}
