import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { acceptLiveInvite, findInviteByToken } from '../store/invites.ts';
import { lockMembers } from '../store/members.ts';
import type { Membership } from '../store/workspaces.ts';
import { inviteTokenHash, looksLikeInviteToken } from './invite-token.ts';
import { joinInvited } from './join-invited.ts';

type Acceptance = {
  token: string;
  /** The address that the caller states; it must be the invited one. */
  email: string;
  /** The person of the caller's session; `null` when nothing is proven yet. */
  user: User | null;
  requestId: string;
};

/** The workspace that a person with the proven address joins, and the inviter. */
export type AcceptedInvite = { id: string; workspace: string; from: string };
type Accepted = { invite: AcceptedInvite; joined: Membership | null };

/**
 * Accepts, and joins where the address is proven; `joined` is null where it has to be proven first, by the code of this
 * invite. Throws NOT_FOUND for every mismatch, so that a token does not reveal whom it invites.
 */
export async function acceptInviteBy(context: Context, acceptance: Acceptance): Promise<Accepted> {
  const { token, email, user, requestId } = acceptance;
  if (!looksLikeInviteToken(token) || (user !== null && user.email !== email)) throw notFound();
  return context.transaction(async (tx) => {
    const now = context.now();
    const found = await findInviteByToken(tx, { tokenHash: inviteTokenHash(token), email });
    if (found === null) throw notFound();
    const { workspaceId, ...invite } = found;
    // Before the invite itself, as everybody who ends invites does.
    await lockMembers(tx, workspaceId);
    if (!(await acceptLiveInvite(tx, invite.id, now))) throw notFound();
    if (user === null) return { invite, joined: null };
    return { invite, joined: await joinInvited(tx, context, { user, inviteId: invite.id, requestId, now }) };
  });
}
