import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { takeAcceptedInvites } from '../store/invites.ts';
import { addMember, lockMembers } from '../store/members.ts';
import { findMembership, type Membership } from '../store/workspaces.ts';

type Proven = { user: User; requestId: string; now: Date };

/** The memberships that a person's accepted invites lead to, now that the address is proven; the latest invite comes last. */
export async function joinInvited(tx: Tx, context: Context, { user, requestId, now }: Proven): Promise<Membership[]> {
  const joined: Membership[] = [];
  if (user.email === null) return joined;
  for (const { id, workspaceId, role, invitedBy } of await takeAcceptedInvites(tx, user.email, now)) {
    await lockMembers(tx, workspaceId);
    const isNew = await addMember(tx, { workspaceId, userId: user.id, role, joinedAt: now });
    const event = { workspaceId, actor: user.id, verdict: 'allow', subject: user.id, requestId } as const;
    if (isNew) {
      await recordAudit(tx, { ...event, action: 'member.joined', details: { role, invite: id, invitedBy } }, now);
      await publishMembersChanged(tx, context, workspaceId);
    }
    const membership = await findMembership(tx, workspaceId, user.id);
    if (membership !== null) joined.push(membership);
  }
  return joined;
}
