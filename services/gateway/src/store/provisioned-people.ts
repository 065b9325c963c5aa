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
  /** `null` while the person has no account here. */
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

/**
 * Locks the person until the transaction ends, and inserts them if they are new. `null` when the state is not newer
 * than the stored one.
 */
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

/** Stores a state. Its remaining work becomes due. */
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

/** The account of a SCIM user of an organisation. `null` when there is none yet. */
export async function findProvisionedUser(
  reader: Reader,
  { orgId, scimUserId }: { orgId: OrgId; scimUserId: ScimUserId },
): Promise<UserId | null> {
  const row = await reader.provisionedPerson.findUnique({ where: { orgId_scimUserId: { orgId, scimUserId } } });
  return UserId.nullable().parse(row?.userId ?? null);
}

/** Whether another active SCIM user of the organisation has the same account. */
export async function isActiveElsewhere(tx: Tx, { orgId, scimUserId }: Key, userId: UserId): Promise<boolean> {
  const where = { orgId, userId, isActive: true, scimUserId: { not: scimUserId } };
  return (await tx.provisionedPerson.count({ where })) > 0;
}

/**
 * People with due work, the longest waiting first. People whose access ended come before the others, so a role for a
 * large group cannot delay the end of an approval.
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

/** Marks the work for this state as done. A newer state stays due. */
export async function markSettled(tx: Tx, { orgId, scimUserId, sequence }: ProvisionedPerson): Promise<void> {
  const data = { dueAt: null, approvalsDue: false };
  await tx.provisionedPerson.updateMany({ where: { orgId, scimUserId, sequence }, data });
}

/** Postpones work that could not be done yet. */
export async function settleLater(
  tx: Tx,
  { orgId, scimUserId, sequence }: ProvisionedPerson,
  { dueAt, approvalsDue }: { dueAt: Date; approvalsDue: boolean },
): Promise<void> {
  await tx.provisionedPerson.updateMany({ where: { orgId, scimUserId, sequence }, data: { dueAt, approvalsDue } });
}

/** Makes active people of an organisation due, since a limit that affected some of them has changed. */
export async function markPeopleDue(tx: Tx, orgId: string, now: Date): Promise<void> {
  await tx.provisionedPerson.updateMany({ where: { orgId, isActive: true }, data: { dueAt: now } });
}

/** Makes people due whose role may wait for an approval in this workspace. */
export async function markDecidersDue(tx: Tx, workspaceId: string, now: Date): Promise<void> {
  const where = { isActive: true, role: { in: ['owner', 'partner'] }, workspaceIds: { has: workspaceId } };
  await tx.provisionedPerson.updateMany({ where, data: { dueAt: now } });
}

/** The role that a person had before groups raised it; `null` for none. `undefined` when groups did not raise it. */
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
