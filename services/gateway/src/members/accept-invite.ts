import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { acceptLiveInvite } from '../store/invites.ts';
import type { Membership } from '../store/workspaces.ts';
import { inviteTokenHash, looksLikeInviteToken } from './invite-token.ts';
import { joinInvited } from './join-invited.ts';

type Acceptance = {
  token: string;
  /** As the caller says; it must be the invited one. */
  email: string;
  /** Whose session the caller has; null: nothing is proven yet. */
  user: User | null;
  requestId: string;
};

/**
 * Accepts, and joins where the address is proven; null: it has to be proven first. Throws NOT_FOUND for all that does not fit, so that
 * nobody learns from a token whom it invites.
 */
export async function acceptInviteBy(context: Context, acceptance: Acceptance): Promise<Membership | null> {
  const { token, email, user, requestId } = acceptance;
  if (!looksLikeInviteToken(token) || (user !== null && user.email !== email)) throw notFound();
  return context.transaction(async (tx) => {
    const now = context.now();
    if (!(await acceptLiveInvite(tx, { tokenHash: inviteTokenHash(token), email, now }))) throw notFound();
    if (user === null) return null;
    const joined = await joinInvited(tx, context, { user, requestId, now });
    return joined.at(-1) ?? null;
  });
}
