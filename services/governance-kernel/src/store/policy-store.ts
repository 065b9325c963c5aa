import { AppError, type Digest, type Instant } from '@countersign/contracts';
import type { StoredPolicy } from '../policy/policies.ts';
import type pg from 'pg';
import type { Prisma } from './prisma.ts';

type Row = { tenant_id: string; epoch: number; policy_hash: Digest; bundle: string; key_id: string; signature: string };

export async function listActivePolicies(pool: pg.Pool, tenants: string[]): Promise<StoredPolicy[]> {
  const { rows } = await pool.query<Row>(
    `SELECT b.* FROM policy_heads h JOIN policy_bundles b USING (tenant_id, epoch) WHERE h.tenant_id = ANY($1::text[])`,
    [tenants],
  );
  return rows.map((row) => ({
    tenant: row.tenant_id,
    epoch: row.epoch,
    hash: row.policy_hash,
    bundle: row.bundle,
    keyId: row.key_id,
    signature: row.signature,
  }));
}

/** When this epoch became active; confirmations do not move it. */
export async function getActivationTime(
  prisma: Prisma,
  { tenant, epoch }: { tenant: string; epoch: number },
): Promise<Instant> {
  const row = await prisma.policyBundle.findUnique({ where: { tenant_id_epoch: { tenant_id: tenant, epoch } } });
  if (row === null) throw new AppError('NOT_FOUND', 'This epoch was never activated');
  return row.activated_at.toISOString() as Instant; // toISOString writes exactly this form
}
