import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { acceptLiveInvite, findInviteByToken } from '../store/invites.ts';
import { lockMembers } from '../store/members.ts';
import type { Membership } from '../store/workspaces.ts';
import { inviteTokenHash, looksLikeInviteToken } from './invite-token.ts';
import { joinInvited } from './join-invited.ts';

type Acceptance = {
  token: string;
  /** The address that the caller states. It must be the invited address. */
  email: string;
  /** The person of the caller's session; `null` when nothing is proven yet. */
  user: User | null;
  requestId: string;
};

/** The workspace that a person with the proven address joins, and the inviter. */
export type AcceptedInvite = { id: string; workspace: string; from: string };
type Accepted = { invite: AcceptedInvite; joined: Membership | null };

/**
 * Accepts the invite, and joins if the address is proven. `joined` is `null` when the code of the invite must prove
 * the address first. Throws NOT_FOUND for every mismatch, so a token does not reveal the invited address.
 */
export async function acceptInviteBy(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  acceptance: Acceptance,
): Promise<Accepted> {
  const { token, email, user, requestId } = acceptance;
  if (!looksLikeInviteToken(token) || (user !== null && user.email !== email)) throw notFound();
  return context.transaction(async (tx) => {
    const now = context.now();
    const found = await findInviteByToken(tx, { tokenHash: inviteTokenHash(token), email });
    if (found === null) throw notFound();
    const { workspaceId, ...invite } = found;
    // The memberships are locked before the invite, as in all code that ends invites.
    await lockMembers(tx, workspaceId);
    if (!(await acceptLiveInvite(tx, invite.id, now))) throw notFound();
    if (user === null) return { invite, joined: null };
    return { invite, joined: await joinInvited(tx, context, { user, inviteId: invite.id, requestId, now }) };
  });
}
