import type { EventOf } from '@countersign/contracts';
import { EntitlementLimits, type entitlementChanged } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

type Entitlement = EventOf<typeof entitlementChanged>;

/** Stores the limits of the latest event, in whatever order events arrive. */
export async function putEntitlement(tx: Tx, { time, data }: Pick<Entitlement, 'time' | 'data'>): Promise<void> {
  const limits = JSON.stringify(data.limits);
  await tx.$executeRaw`
    INSERT INTO entitlements (org_id, limits, published_at) VALUES (${data.org_id}, ${limits}::jsonb, ${time}::timestamptz)
    ON CONFLICT (org_id) DO UPDATE SET limits = excluded.limits, published_at = excluded.published_at
     WHERE entitlements.published_at <= excluded.published_at`;
}

/**
 * The limits of an organisation, locked until the transaction ends, so that two transactions cannot both take the last
 * place. `null` when they were never published.
 */
export async function lockLimits(tx: Tx, orgId: OrgId): Promise<EntitlementLimits | null> {
  const [row] = await tx.$queryRaw<{ limits: unknown }[]>`
    SELECT limits FROM entitlements WHERE org_id = ${orgId} FOR UPDATE`;
  return row === undefined ? null : EntitlementLimits.parse(row.limits);
}
