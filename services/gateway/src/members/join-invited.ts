import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { endAcceptedInvite, findInvite } from '../store/invites.ts';
import { addMember, lockMembers } from '../store/members.ts';
import { requireMemberRoom } from './require-member-room.ts';
import { findMembership, type Membership } from '../store/workspaces.ts';

type Proven = { user: User; inviteId: string; requestId: string; now: Date };

/**
 * Creates the membership of an accepted invite, now that its address is proven. `null` when the invite has ended, or
 * is for a different address. Throws LIMIT_REACHED above the member limit of the plan, and the invite then stays open.
 */
export async function joinInvited(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { user, inviteId, requestId, now }: Proven,
): Promise<Membership | null> {
  const invite = await findInvite(tx, inviteId);
  if (invite === null || invite.email !== user.email) return null;
  const { workspaceId, role, invitedBy } = invite;
  // The memberships are locked before the invite, as in all code that ends invites.
  await lockMembers(tx, workspaceId);
  if (!(await endAcceptedInvite(tx, inviteId, now))) return null;
  const isNew = await addMember(tx, { workspaceId, userId: user.id, role, joinedAt: now });
  const event = { workspaceId, actor: user.id, verdict: 'allow', subject: user.id, requestId } as const;
  if (isNew) {
    await requireMemberRoom(tx, workspaceId);
    const details = { role, invite: inviteId, invitedBy };
    await recordAudit(tx, { ...event, action: 'member.joined', details }, now);
    await publishMembersChanged(tx, context, workspaceId);
  }
  return findMembership(tx, workspaceId, user.id);
}
