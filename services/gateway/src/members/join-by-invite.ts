import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { acceptLiveInvite, findInviteTo } from '../store/invites.ts';
import { lockMembers } from '../store/members.ts';
import type { Membership } from '../store/workspaces.ts';
import { joinInvited } from './join-invited.ts';

type Joining = { inviteId: string; user: User; requestId: string };

/** Joins by an open invite to the person's own address, which their session proves. Throws NOT_FOUND for every other invite. */
export function joinByInviteOf(context: Context, { inviteId, user, requestId }: Joining): Promise<Membership> {
  const { email } = user;
  if (email === null) throw notFound();
  return context.transaction(async (tx) => {
    const now = context.now();
    const found = await findInviteTo(tx, { id: inviteId, email });
    if (found === null) throw notFound();
    // Before the invite itself, as everybody who ends invites does.
    await lockMembers(tx, found.workspaceId);
    if (!(await acceptLiveInvite(tx, inviteId, now))) throw notFound();
    const joined = await joinInvited(tx, context, { user, inviteId, requestId, now });
    if (joined === null) throw notFound();
    return joined;
  });
}
