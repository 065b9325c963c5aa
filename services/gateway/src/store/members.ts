import { UserId, WorkspaceId, type EventOf } from '@countersign/contracts';
import { Role, type membersChanged } from '@countersign/contracts/gateway';
import type { Reader, Tx } from './database.ts';
import { firstListVersion } from './workspaces.ts';

/** Locks the memberships of a workspace until the transaction ends, so that the last two owners cannot both leave. */
export async function lockMembers(tx: Tx, workspaceId: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM workspaces WHERE id = ${workspaceId} FOR UPDATE`;
}

export async function findRole(reader: Reader, workspaceId: string, userId: string): Promise<Role | null> {
  const row = await reader.workspaceMember.findUnique({ where: { workspaceId_userId: { workspaceId, userId } } });
  return row === null ? null : Role.parse(row.role);
}

export function countOwners(tx: Tx, workspaceId: string): Promise<number> {
  return tx.workspaceMember.count({ where: { workspaceId, role: 'owner' } });
}

/** Whether a person is the only owner of one of these workspaces. */
export async function isSoleOwner(reader: Reader, userId: string, workspaceIds: readonly string[]): Promise<boolean> {
  const where = { role: 'owner', workspaceId: { in: [...workspaceIds] } };
  const owned = await reader.workspaceMember.findMany({ where: { ...where, userId }, select: { workspaceId: true } });
  const counts = await reader.workspaceMember.groupBy({
    by: ['workspaceId'],
    where: { role: 'owner', workspaceId: { in: owned.map(({ workspaceId }) => workspaceId) } },
    _count: { userId: true },
  });
  return counts.some(({ _count }) => _count.userId === 1);
}

/** How many workspaces a person owns. */
export function countOwned(tx: Tx, userId: string): Promise<number> {
  return tx.workspaceMember.count({ where: { userId, role: 'owner' } });
}

/** Whether a person with this address is a member. */
export async function isMemberAddress(reader: Reader, workspaceId: string, email: string): Promise<boolean> {
  return (await reader.workspaceMember.count({ where: { workspaceId, user: { email } } })) > 0;
}

/** `false` for a person who is already a member. The role stays. */
export async function addMember(
  tx: Tx,
  member: { workspaceId: string; userId: string; role: Role; joinedAt: Date },
): Promise<boolean> {
  const { count } = await tx.workspaceMember.createMany({ data: member, skipDuplicates: true });
  return count === 1;
}

export async function setRole(tx: Tx, workspaceId: string, userId: string, role: Role): Promise<void> {
  await tx.workspaceMember.update({ where: { workspaceId_userId: { workspaceId, userId } }, data: { role } });
}

export async function deleteMember(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  await tx.workspaceMember.delete({ where: { workspaceId_userId: { workspaceId, userId } } });
}

export async function listMemberships(
  reader: Reader,
  userId: string,
): Promise<{ id: WorkspaceId; name: string; role: Role }[]> {
  const rows = await reader.workspaceMember.findMany({
    where: { userId },
    orderBy: [{ joinedAt: 'asc' }, { workspaceId: 'asc' }],
    include: { workspace: true },
  });
  return rows.map(({ role, workspace: { id, name } }) => ({ id: WorkspaceId.parse(id), name, role: Role.parse(role) }));
}

export type MemberList = EventOf<typeof membersChanged>['data'];

/** The current members under the next version. Locks the memberships until the transaction ends. */
export async function nextMemberList(tx: Tx, workspaceId: string, now: Date): Promise<MemberList> {
  const data = { membersVersion: { increment: 1 }, membersToldAt: now };
  const { membersVersion } = await tx.workspace.update({ where: { id: workspaceId }, data });
  return await memberList(tx, workspaceId, membersVersion);
}

/** The current members and their version. Locks the memberships until the transaction ends. */
export async function findMemberList(tx: Tx, workspaceId: string): Promise<MemberList> {
  await lockMembers(tx, workspaceId);
  const { membersVersion } = await tx.workspace.findUniqueOrThrow({ where: { id: workspaceId } });
  return await memberList(tx, workspaceId, Math.max(membersVersion, firstListVersion));
}

/**
 * The current members under a version above the kernel's. The version stays if a change has already raised it above the
 * kernel's.
 */
export async function memberListAbove(
  tx: Tx,
  { workspaceId, version }: { workspaceId: string; version: number },
): Promise<MemberList> {
  await lockMembers(tx, workspaceId);
  await tx.$executeRaw`
    UPDATE workspaces SET members_version = ${version}::int + 1 WHERE id = ${workspaceId} AND members_version <= ${version}::int`;
  return await findMemberList(tx, workspaceId);
}

/**
 * Lists that were not published since `before`, oldest first, which are marked as published now. Each replica claims
 * different ones.
 */
export async function takeUntoldLists(tx: Tx, { before, now }: { before: Date; now: Date }): Promise<MemberList[]> {
  const due = await tx.$queryRaw<{ id: string; version: number }[]>`
    UPDATE workspaces SET members_told_at = ${now} WHERE id IN (
      SELECT id FROM workspaces WHERE members_told_at < ${before}
       ORDER BY members_told_at LIMIT ${listsPerRun} FOR UPDATE SKIP LOCKED)
    RETURNING id, greatest(members_version, 1) AS version`;
  return await Promise.all(due.map(({ id, version }) => memberList(tx, id, version)));
}

/** Few enough that live requests do not wait for the publication of these lists. */
const listsPerRun = 100;

async function memberList(tx: Tx, workspaceId: string, version: number): Promise<MemberList> {
  const rows = await tx.workspaceMember.findMany({ where: { workspaceId }, orderBy: { userId: 'asc' } });
  const members = rows.map(({ userId, role }) => ({ userId: UserId.parse(userId), role: Role.parse(role) }));
  return { workspaceId: WorkspaceId.parse(workspaceId), version, members };
}
