import { UserId, WorkspaceId, type EventOf, type ScimUserId } from '@countersign/contracts';
import type { personProvisioned } from '@countersign/contracts/commercial-gateway';
import { Role } from '@countersign/contracts/gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { ProvisionedPersonModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type PersonState = EventOf<typeof personProvisioned>['data'];

export type ProvisionedPerson = {
  orgId: string;
  scimUserId: string;
  /** `null` until the person was active for the first time. */
  userId: UserId | null;
  address: string;
  displayName: string;
  sequence: number;
  accessEpoch: number;
  isActive: boolean;
  role: Role | null;
  workspaceIds: WorkspaceId[];
  grantedBy: UserId;
  approvalsDue: boolean;
};

type Key = Pick<ProvisionedPerson, 'orgId' | 'scimUserId'>;

/** Locks the person until the transaction ends, and creates them at first. `null`: the state is not newer than the stored one. */
export async function lockOlderPerson(tx: Tx, state: PersonState): Promise<ProvisionedPerson | null> {
  const { org_id: orgId, scim_user_id: scimUserId } = state;
  const first = { sequence: 0, accessEpoch: 0, isActive: false, role: null, workspaceIds: [] };
  const data = { orgId, scimUserId, userId: null, ...first, ...namesOf(state), grantedBy: state.granted_by };
  await tx.provisionedPerson.createMany({ data, skipDuplicates: true });
  await tx.$executeRaw`
    SELECT FROM provisioned_people WHERE org_id = ${orgId} AND scim_user_id = ${scimUserId} FOR UPDATE`;
  const key = { orgId_scimUserId: { orgId, scimUserId } };
  const person = personOf(await tx.provisionedPerson.findUniqueOrThrow({ where: key }));
  return person.sequence < state.sequence ? person : null;
}

type Received = { state: PersonState; userId: UserId | null; approvalsDue: boolean; now: Date };

/** Stores a state. The remaining work is due now. */
export async function writePerson(tx: Tx, { state, userId, approvalsDue, now }: Received): Promise<void> {
  const { org_id: orgId, scim_user_id: scimUserId, sequence, access_epoch: accessEpoch } = state;
  await tx.provisionedPerson.update({
    where: { orgId_scimUserId: { orgId, scimUserId } },
    data: {
      ...namesOf(state),
      ...{ userId, sequence, accessEpoch, isActive: state.is_active, role: state.role },
      ...{ workspaceIds: state.workspace_ids, grantedBy: state.granted_by, approvalsDue, dueAt: now },
    },
  });
}

/** The person of an organisation's user. `null` when there is none yet. */
export async function findProvisionedUser(
  reader: Reader,
  { orgId, scimUserId }: { orgId: OrgId; scimUserId: ScimUserId },
): Promise<UserId | null> {
  const row = await reader.provisionedPerson.findUnique({ where: { orgId_scimUserId: { orgId, scimUserId } } });
  return UserId.nullable().parse(row?.userId ?? null);
}

/** Whether the organisation provisions this person a second time, and there they are active. */
export async function isActiveElsewhere(tx: Tx, { orgId, scimUserId }: Key, userId: UserId): Promise<boolean> {
  const where = { orgId, userId, isActive: true, scimUserId: { not: scimUserId } };
  return (await tx.provisionedPerson.count({ where })) > 0;
}

/**
 * People of whom something is left to do, the longest waiting first. People whose access ended go before the others: a group of thousands that
 * gets a role must not delay the end of an approval.
 */
export async function listDuePeople(reader: Reader, now: Date, limit: number): Promise<ProvisionedPerson[]> {
  const due = (approvalsDue: boolean, take: number) =>
    reader.provisionedPerson.findMany({
      where: { dueAt: { lte: now }, approvalsDue },
      orderBy: { dueAt: 'asc' },
      take,
    });
  const ended = await due(true, limit);
  const others = ended.length < limit ? await due(false, limit - ended.length) : [];
  return [...ended, ...others].map(personOf);
}

/** Everything was done for this state. A newer state keeps its mark. */
export async function markSettled(tx: Tx, { orgId, scimUserId, sequence }: ProvisionedPerson): Promise<void> {
  const data = { dueAt: null, approvalsDue: false };
  await tx.provisionedPerson.updateMany({ where: { orgId, scimUserId, sequence }, data });
}

/** Something could not be done yet. */
export async function settleLater(
  tx: Tx,
  { orgId, scimUserId, sequence }: ProvisionedPerson,
  { dueAt, approvalsDue }: { dueAt: Date; approvalsDue: boolean },
): Promise<void> {
  await tx.provisionedPerson.updateMany({ where: { orgId, scimUserId, sequence }, data: { dueAt, approvalsDue } });
}

/** Active people of an organisation: a limit that held some of them back has changed. */
export async function markPeopleDue(tx: Tx, orgId: string, now: Date): Promise<void> {
  await tx.provisionedPerson.updateMany({ where: { orgId, isActive: true }, data: { dueAt: now } });
}

/** People who wait for an approval of their role in this workspace. */
export async function markDecidersDue(tx: Tx, workspaceId: string, now: Date): Promise<void> {
  const where = { isActive: true, role: { in: ['owner', 'partner'] }, workspaceIds: { has: workspaceId } };
  await tx.provisionedPerson.updateMany({ where, data: { dueAt: now } });
}

/** The role of a member without groups, where groups raised it. `undefined`: they did not. */
export async function findLocalRole(
  reader: Reader,
  workspaceId: string,
  userId: string,
): Promise<Role | null | undefined> {
  const row = await reader.provisionedMember.findUnique({ where: { workspaceId_userId: { workspaceId, userId } } });
  return row === null ? undefined : Role.nullable().parse(row.localRole);
}

type MemberOf = { workspaceId: string; userId: string };

export async function keepLocalRole(tx: Tx, { workspaceId, userId }: MemberOf, localRole: Role | null): Promise<void> {
  const where = { workspaceId_userId: { workspaceId, userId } };
  await tx.provisionedMember.upsert({ where, create: { workspaceId, userId, localRole }, update: { localRole } });
}

export async function forgetLocalRole(tx: Tx, { workspaceId, userId }: MemberOf): Promise<void> {
  await tx.provisionedMember.deleteMany({ where: { workspaceId, userId } });
}

function namesOf({ address, display_name: displayName }: PersonState) {
  return { address, displayName };
}

function personOf({ dueAt: _, ...row }: ProvisionedPersonModel): ProvisionedPerson {
  return {
    ...row,
    userId: UserId.nullable().parse(row.userId),
    role: Role.nullable().parse(row.role),
    workspaceIds: row.workspaceIds.map((id) => WorkspaceId.parse(id)),
    grantedBy: UserId.parse(row.grantedBy),
  };
}
