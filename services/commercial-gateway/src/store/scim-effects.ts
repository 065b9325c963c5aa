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

/** Takes the marks of some people, who stay locked until the transaction ends. Each replica takes others. */
export async function takeDuePeople(tx: Tx, limit: number): Promise<DuePerson[]> {
  const taken = await tx.$queryRaw<{ id: string }[]>`
    UPDATE scim_users SET effect_due = false, sequence = sequence + 1 WHERE id IN (
      SELECT id FROM scim_users WHERE effect_due ORDER BY id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
    RETURNING id`;
  const rows = await tx.scimUser.findMany({ where: { id: { in: taken.map(({ id }) => id) } }, orderBy: { id: 'asc' } });
  return rows.map((row) => ({
    ...{ id: ScimUserId.parse(row.id), orgId: OrgId.parse(row.orgId), address: row.address, isActive: row.active },
    ...{ displayName: shownName(ScimUser.parse(JSON.parse(row.attributes))).slice(0, 256) },
    ...{ accessEpoch: row.accessEpoch, sequence: row.sequence },
  }));
}
