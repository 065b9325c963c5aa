import { ScimUserId } from '@countersign/contracts';
import { ScimUser } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';
import { shownName } from './scim-users.ts';

/** A person whose state must be published to the gateway. `sequence` is the sequence of the event. */
export type DuePerson = {
  id: ScimUserId;
  orgId: OrgId;
  address: string | null;
  displayName: string;
  isActive: boolean;
  accessEpoch: number;
  /** True when the access of the person ended since the last event. */
  endsAccess: boolean;
  sequence: number;
};

/** Returns the organisations with people whose state must be published. */
export async function listDueOrgs(tx: Tx): Promise<OrgId[]> {
  const rows = await tx.$queryRaw<{ org_id: string }[]>`
    SELECT DISTINCT org_id FROM scim_users WHERE effect_due ORDER BY org_id`;
  return rows.map(({ org_id }) => OrgId.parse(org_id));
}

/**
 * Removes the marks of some people and locks them until the transaction ends. People whose access ended come first.
 * Replicas skip the locked people of each other.
 */
export async function takeDuePeople(tx: Tx, orgId: OrgId, limit: number): Promise<DuePerson[]> {
  const taken = await tx.$queryRaw<{ id: string; ends: boolean }[]>`
    UPDATE scim_users u SET effect_due = false, sequence = sequence + 1, published_epoch = u.access_epoch
      FROM (SELECT id, access_epoch > published_epoch AS ends FROM scim_users WHERE effect_due AND org_id = ${orgId}
             ORDER BY access_epoch > published_epoch DESC, id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED) due
     WHERE u.org_id = ${orgId} AND u.id = due.id
    RETURNING u.id, due.ends`;
  const ended = new Set(taken.filter(({ ends }) => ends).map(({ id }) => id));
  const rows = await tx.scimUser.findMany({
    where: { orgId, id: { in: taken.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
  return rows.map((row) => ({
    ...{ id: ScimUserId.parse(row.id), orgId: OrgId.parse(row.orgId), address: row.address, isActive: row.active },
    ...{ displayName: shownName(ScimUser.parse(JSON.parse(row.attributes))).slice(0, 256) },
    ...{ accessEpoch: row.accessEpoch, sequence: row.sequence, endsAccess: ended.has(row.id) },
  }));
}
