import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

type EntitlementState = { published: string; publishedAt: Date };

const orgsPerClaim = 20;
/** A due time in the past, so that the next pass publishes the entitlements. */
const never = new Date(0);

/** Adds a state for each organisation that has none. */
export async function addEntitlementStates(tx: Tx): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO entitlement_states (org_id, published, published_at, due_at)
    SELECT id, '', ${never}, ${never} FROM orgs o
     WHERE NOT EXISTS (SELECT FROM entitlement_states s WHERE s.org_id = o.id)
    ON CONFLICT DO NOTHING`;
}

/** Claims due organisations for this worker until `until`. */
export async function claimDueOrgs(tx: Tx, { now, until }: { now: Date; until: Date }): Promise<OrgId[]> {
  const rows = await tx.$queryRaw<{ org_id: string }[]>`
    UPDATE entitlement_states SET due_at = ${until} WHERE org_id IN (
      SELECT org_id FROM entitlement_states WHERE due_at <= ${now} ORDER BY due_at LIMIT ${orgsPerClaim}
      FOR UPDATE SKIP LOCKED)
    RETURNING org_id`;
  return rows.map(({ org_id }) => OrgId.parse(org_id));
}

/**
 * Locks the published state of an organisation until the transaction ends. The later of two simultaneous changes then
 * reads the results of both and publishes last.
 */
export async function lockEntitlementState(tx: Tx, orgId: OrgId): Promise<EntitlementState> {
  const data = { orgId, published: '', publishedAt: never, dueAt: never };
  await tx.entitlementState.createMany({ data, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM entitlement_states WHERE org_id = ${orgId} FOR UPDATE`;
  return tx.entitlementState.findUniqueOrThrow({ where: { orgId }, select: { published: true, publishedAt: true } });
}

/** Stores the published state. The caller must hold its lock. */
export async function writePublished(
  tx: Tx,
  orgId: OrgId,
  { published, at, dueAt }: { published: string; at: Date; dueAt: Date },
): Promise<void> {
  await tx.entitlementState.update({ where: { orgId }, data: { published, publishedAt: at, dueAt } });
}

/** Makes an organisation due after it got a new workspace, whose share must be set. */
export async function makeEntitlementsDue(tx: Tx, orgId: string): Promise<void> {
  await tx.entitlementState.updateMany({ where: { orgId }, data: { dueAt: never } });
}

/** Schedules the next pass for an organisation. If a change made it due in the meantime, it stays due. */
export async function scheduleEntitlements(
  tx: Tx,
  orgId: OrgId,
  { leasedUntil, dueAt }: { leasedUntil: Date; dueAt: Date },
): Promise<void> {
  await tx.entitlementState.updateMany({ where: { orgId, dueAt: leasedUntil }, data: { dueAt } });
}
