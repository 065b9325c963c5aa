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

/** When a bundle was last confirmed by its source, whichever it is; null when none is active. */
export async function findLastConfirmation(pool: pg.Pool, { besides }: { besides: string }): Promise<Date | null> {
  const { rows } = await pool.query<{ confirmed_at: Date | null }>(
    'SELECT max(confirmed_at) AS confirmed_at FROM policy_heads WHERE tenant_id <> $1',
    [besides],
  );
  return rows[0]?.confirmed_at ?? null;
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
