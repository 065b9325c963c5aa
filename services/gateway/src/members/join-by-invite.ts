import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { acceptLiveInvite, findInviteTo } from '../store/invites.ts';
import { lockMembers } from '../store/members.ts';
import type { Membership } from '../store/workspaces.ts';
import { joinInvited } from './join-invited.ts';

type Joining = { inviteId: string; user: User; requestId: string };

/** Joins by an open invite to the person's own proven address. Throws NOT_FOUND for every other invite. */
export function joinByInviteOf(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  { inviteId, user, requestId }: Joining,
): Promise<Membership> {
  const { email } = user;
  if (email === null) throw notFound();
  return context.transaction(async (tx) => {
    const now = context.now();
    const found = await findInviteTo(tx, { id: inviteId, email });
    if (found === null) throw notFound();
    // The memberships are locked before the invite, as in all code that ends invites.
    await lockMembers(tx, found.workspaceId);
    if (!(await acceptLiveInvite(tx, inviteId, now))) throw notFound();
    const joined = await joinInvited(tx, context, { user, inviteId, requestId, now });
    if (joined === null) throw notFound();
    return joined;
  });
}
