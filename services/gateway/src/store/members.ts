import { WorkspaceId } from '@countersign/contracts';
import { Role } from '@countersign/contracts/gateway';
import type { Reader, Tx } from './database.ts';

/** Holds the memberships of a workspace until the transaction ends, so that two owners cannot both leave as the last but one. */
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

/** Whether a person with this address is a member. */
export async function isMemberAddress(reader: Reader, workspaceId: string, email: string): Promise<boolean> {
  return (await reader.workspaceMember.count({ where: { workspaceId, user: { email } } })) > 0;
}

/** False for a person who is a member already, whose role stays. */
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
