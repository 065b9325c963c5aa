import { instantOf, InviteId, UserId } from '@countersign/contracts';
import { InvitedRole, type Invite, type InviteToMe } from '@countersign/contracts/gateway';
import type { InviteModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
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

/** The number of invites of a workspace, for one address or for all, in any state. */
export function countInvitesSince(
  tx: Tx,
  { workspaceId, email, since }: { workspaceId: string; email?: string; since: Date },
): Promise<number> {
  return tx.invite.count({ where: { workspaceId, createdAt: { gt: since }, ...(email !== undefined && { email }) } });
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

/** `false` when the workspace has no live invite with this id. */
export async function endInvite(tx: Tx, workspaceId: string, inviteId: string, now: Date): Promise<boolean> {
  if (!InviteId.safeParse(inviteId).success) return false;
  const { count } = await tx.invite.updateMany({
    where: { id: inviteId, workspaceId, ...live(now) },
    data: { endedAt: now },
  });
  return count === 1;
}

/** Ends the live invites of a workspace to an address. */
export async function endInvitesOf(tx: Tx, workspaceId: string, email: string, now: Date): Promise<void> {
  await tx.invite.updateMany({ where: { workspaceId, email, endedAt: null }, data: { endedAt: now } });
}

/** Ends the live invites that one person created in a workspace. Resolves to their number. */
export async function endInvitesBy(
  tx: Tx,
  { workspaceId, invitedBy }: { workspaceId: string; invitedBy: string },
  now: Date,
): Promise<number> {
  const where = { workspaceId, invitedBy, ...live(now) };
  const { count } = await tx.invite.updateMany({ where, data: { endedAt: now } });
  return count;
}

/** The invite of a token and address, with its sender. Reads all workspaces, since the token determines its own. */
export async function findInviteByToken(
  reader: Reader,
  { tokenHash, email }: { tokenHash: string; email: string },
): Promise<{ id: string; workspaceId: string; workspace: string; from: string } | null> {
  const row = await reader.invite.findUnique({ where: { tokenHash, email }, include: { workspace: true } });
  if (row === null) return null;
  const inviter = await reader.user.findUniqueOrThrow({ where: { id: row.invitedBy } });
  const { id, workspaceId, workspace } = row;
  return { id, workspaceId, workspace: workspace.name, from: inviter.email ?? inviter.name };
}

/** Far more than a person has at once. */
const shownMax = 50;

/** Live invites to an address across all workspaces, newest first. */
export async function listInvitesTo(reader: Reader, email: string, now: Date): Promise<InviteToMe[]> {
  const where = { email, ...live(now) };
  const rows = await reader.invite.findMany({
    where,
    orderBy: { id: 'desc' },
    take: shownMax,
    include: { workspace: true },
  });
  const ids = rows.map(({ invitedBy }) => invitedBy);
  const inviters = await reader.user.findMany({ where: { id: { in: ids } } });
  return rows.map((row) => {
    const { id, role, expiresAt, createdAt } = inviteOf(row);
    const inviter = inviters.find((user) => user.id === row.invitedBy);
    return {
      id,
      role,
      createdAt,
      expiresAt,
      workspace: row.workspace.name,
      from: inviter?.email ?? inviter?.name ?? '',
    };
  });
}

/** An invite to this address in any state. */
export async function findInviteTo(
  reader: Reader,
  { id, email }: { id: string; email: string },
): Promise<{ workspaceId: string } | null> {
  return reader.invite.findUnique({ where: { id, email }, select: { workspaceId: true } });
}

/** Marks an invite as accepted. `false` when it has ended. Requires the lock on the memberships. */
export async function acceptLiveInvite(tx: Tx, inviteId: string, now: Date): Promise<boolean> {
  const { count } = await tx.invite.updateMany({ where: { id: inviteId, ...live(now) }, data: { acceptedAt: now } });
  return count === 1;
}

type InvitedTo = { email: string; workspaceId: string; role: InvitedRole; invitedBy: string };

export async function findInvite(reader: Reader, inviteId: string): Promise<InvitedTo | null> {
  const row = await reader.invite.findUnique({ where: { id: inviteId } });
  if (row === null) return null;
  const { email, workspaceId, invitedBy } = row;
  return { email, workspaceId, role: InvitedRole.parse(row.role), invitedBy };
}

/** `true` for the one caller that makes the person a member. Requires the lock on the memberships. */
export async function endAcceptedInvite(tx: Tx, inviteId: string, now: Date): Promise<boolean> {
  const where = { id: inviteId, acceptedAt: { not: null }, ...live(now) };
  const { count } = await tx.invite.updateMany({ where, data: { endedAt: now } });
  return count === 1;
}

/** Removes invites that expired long ago. The audit log keeps their history. */
export async function forgetInvites(tx: Tx, before: Date): Promise<void> {
  await tx.invite.deleteMany({ where: { expiresAt: { lt: before } } });
}

function inviteOf(row: InviteModel): Invite {
  return {
    id: InviteId.parse(row.id),
    email: row.email,
    role: InvitedRole.parse(row.role),
    invitedBy: UserId.parse(row.invitedBy),
    createdAt: instantOf(row.createdAt),
    expiresAt: instantOf(row.expiresAt),
    state: row.acceptedAt === null ? 'open' : 'accepted',
  };
}
