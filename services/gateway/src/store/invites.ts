import { InviteId, UserId } from '@countersign/contracts';
import { InvitedRole, type Invite } from '@countersign/contracts/gateway';
import type { InviteModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { instant } from './instant.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

type NewInvite = {
  workspaceId: string;
  email: string;
  role: InvitedRole;
  tokenHash: string;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
};

export async function insertInvite(tx: Tx, invite: NewInvite): Promise<string> {
  const id = newId('inv');
  await tx.invite.create({ data: { id, ...invite } });
  return id;
}

const live = (now: Date) => ({ endedAt: null, expiresAt: { gt: now } });

export function countLiveInvites(tx: Tx, workspaceId: string, now: Date): Promise<number> {
  return tx.invite.count({ where: { workspaceId, ...live(now) } });
}

export async function listLiveInvites(
  reader: Reader,
  { workspaceId, now }: { workspaceId: string; now: Date },
  request: PageRequest,
): Promise<Page<Invite>> {
  const rows = await reader.invite.findMany({
    where: { workspaceId, id: olderThan(request), ...live(now) },
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: inviteOf, key: (row) => row.id });
}

/** False when the workspace has no live invite of that id. */
export async function endInvite(tx: Tx, workspaceId: string, inviteId: string, now: Date): Promise<boolean> {
  if (!InviteId.safeParse(inviteId).success) return false;
  const { count } = await tx.invite.updateMany({
    where: { id: inviteId, workspaceId, ...live(now) },
    data: { endedAt: now },
  });
  return count === 1;
}

/** The workspace's live invites of the address, if any. */
export async function endInvitesOf(tx: Tx, workspaceId: string, email: string, now: Date): Promise<void> {
  await tx.invite.updateMany({ where: { workspaceId, email, endedAt: null }, data: { endedAt: now } });
}

type HeldInvite = { id: string; workspaceId: string; role: InvitedRole; invitedBy: string };

/** The live invite of token and address, marked as accepted. Over all workspaces: the token names one. */
export async function acceptLiveInvite(
  tx: Tx,
  { tokenHash, email, now }: { tokenHash: string; email: string; now: Date },
): Promise<boolean> {
  const { count } = await tx.invite.updateMany({
    where: { tokenHash, email, ...live(now) },
    data: { acceptedAt: now },
  });
  return count === 1;
}

/** Ends, and gives to the caller alone, all accepted invites of a proven address. Over all workspaces that invited it. */
export async function takeAcceptedInvites(tx: Tx, email: string, now: Date): Promise<HeldInvite[]> {
  const rows = await tx.invite.updateManyAndReturn({
    where: { email, acceptedAt: { not: null }, ...live(now) },
    data: { endedAt: now },
  });
  return rows
    .sort((left, right) => (left.id < right.id ? -1 : 1))
    .map(({ id, workspaceId, role, invitedBy }) => ({ id, workspaceId, role: InvitedRole.parse(role), invitedBy }));
}

/** Removes what led nowhere, or to a member, long ago: the audit log keeps the story. */
export async function forgetInvites(tx: Tx, before: Date): Promise<void> {
  await tx.invite.deleteMany({ where: { expiresAt: { lt: before } } });
}

function inviteOf(row: InviteModel): Invite {
  return {
    id: InviteId.parse(row.id),
    email: row.email,
    role: InvitedRole.parse(row.role),
    invitedBy: UserId.parse(row.invitedBy),
    createdAt: instant(row.createdAt),
    expiresAt: instant(row.expiresAt),
    state: row.acceptedAt === null ? 'open' : 'accepted',
  };
}
