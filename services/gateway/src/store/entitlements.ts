import type { EventOf } from '@countersign/contracts';
import { EntitlementLimits, type entitlementChanged } from '@countersign/contracts/commercial-gateway';
import type { orgWorkspaceAdded } from '@countersign/contracts/control-plane';
import type { Tx } from './database.ts';

type Entitlement = EventOf<typeof entitlementChanged>;

/**
 * Stores the limits of the latest event, in whatever order events arrive. Resolves to whether the member limit has
 * changed.
 */
export async function putEntitlement(tx: Tx, { time, data }: Pick<Entitlement, 'time' | 'data'>): Promise<boolean> {
  const limits = JSON.stringify(data.limits);
  const before = await tx.entitlement.findUnique({ where: { orgId: data.org_id }, select: { limits: true } });
  const written = await tx.$executeRaw`
    INSERT INTO entitlements (org_id, limits, published_at) VALUES (${data.org_id}, ${limits}::jsonb, ${time}::timestamptz)
    ON CONFLICT (org_id) DO UPDATE SET limits = excluded.limits, published_at = excluded.published_at
     WHERE entitlements.published_at <= excluded.published_at`;
  return written === 1 && EntitlementLimits.safeParse(before?.limits).data?.members !== data.limits.members;
}

/** Stores once which organisation owns a workspace. The owner never changes. */
export async function putOrgWorkspace(
  tx: Tx,
  { workspace_id: workspaceId, org_id: orgId, added_at }: EventOf<typeof orgWorkspaceAdded>['data'],
): Promise<void> {
  const data = { workspaceId, orgId, addedAt: new Date(added_at) };
  await tx.orgWorkspace.createMany({ data, skipDuplicates: true });
}

/**
 * The limits of the organisation of a workspace, locked until the transaction ends, so that two transactions cannot
 * both take the last place. `null` when the workspace has no organisation, or its limits were never published.
 */
export async function lockLimits(
  tx: Tx,
  workspaceId: string,
): Promise<{ orgId: string; limits: EntitlementLimits } | null> {
  const [row] = await tx.$queryRaw<{ org_id: string; limits: unknown }[]>`
    SELECT e.org_id, e.limits FROM entitlements e JOIN org_workspaces w ON w.org_id = e.org_id
     WHERE w.workspace_id = ${workspaceId} FOR UPDATE OF e`;
  if (row === undefined) return null;
  return { orgId: row.org_id, limits: EntitlementLimits.parse(row.limits) };
}

/** The number of people in the workspaces of an organisation. A person in two of them counts once. */
export async function countPeopleOf(tx: Tx, orgId: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ people: bigint }[]>`
    SELECT count(DISTINCT m.user_id) AS people
      FROM org_workspaces w JOIN workspace_members m ON m.workspace_id = w.workspace_id WHERE w.org_id = ${orgId}`;
  return Number(row?.people ?? 0n);
}

/** Whether the plan permits no runs, because the organisation is suspended or did not pay. */
export async function mayBeginNoRun(tx: Tx, workspaceId: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM entitlements e JOIN org_workspaces w ON w.org_id = e.org_id
     WHERE w.workspace_id = ${workspaceId} AND (e.limits ->> 'concurrent_runs')::bigint = 0`;
  return found.length > 0;
}
