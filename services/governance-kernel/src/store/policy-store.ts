import type { Digest } from '@countersign/contracts';
import type { StoredPolicy } from '../policy/policies.ts';
import type pg from 'pg';

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
