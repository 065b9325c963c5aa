import { ScimUserId } from '@countersign/contracts';
import { ScimUser } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';
import { shownName } from './scim-users.ts';

/** A person of whom the gateway is to be informed. `sequence` is the one of the event. */
export type DuePerson = {
  id: ScimUserId;
  orgId: OrgId;
  address: string | null;
  displayName: string;
  isActive: boolean;
  accessEpoch: number;
  sequence: number;
};

/** Organisations with people of whom the gateway is to be informed. */
export async function listDueOrgs(tx: Tx): Promise<OrgId[]> {
  const rows = await tx.$queryRaw<{ org_id: string }[]>`
    SELECT DISTINCT org_id FROM scim_users WHERE effect_due ORDER BY org_id`;
  return rows.map(({ org_id }) => OrgId.parse(org_id));
}

/** Takes the marks of some people, who stay locked until the transaction ends. Each replica takes others. */
export async function takeDuePeople(tx: Tx, orgId: OrgId, limit: number): Promise<DuePerson[]> {
  const taken = await tx.$queryRaw<{ id: string }[]>`
    UPDATE scim_users SET effect_due = false, sequence = sequence + 1 WHERE org_id = ${orgId} AND id IN (
      SELECT id FROM scim_users WHERE effect_due AND org_id = ${orgId} ORDER BY id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
    RETURNING id`;
  const rows = await tx.scimUser.findMany({
    where: { orgId, id: { in: taken.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
  return rows.map((row) => ({
    ...{ id: ScimUserId.parse(row.id), orgId: OrgId.parse(row.orgId), address: row.address, isActive: row.active },
    ...{ displayName: shownName(ScimUser.parse(JSON.parse(row.attributes))).slice(0, 256) },
    ...{ accessEpoch: row.accessEpoch, sequence: row.sequence },
  }));
}
