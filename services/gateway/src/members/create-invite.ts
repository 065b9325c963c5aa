import { AppError } from '@countersign/contracts';
import type { InvitedRole } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishInviteCreated } from '../events.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { countInvitesSince, countLiveInvites, endInvitesOf, insertInvite } from '../store/invites.ts';
import { isMemberAddress } from '../store/members.ts';
import { holdRight } from './hold-role.ts';
import { proposeDecider } from './propose-decider.ts';
import { inviteLifetimeMs, inviteTokenHash, newInviteToken } from './invite-token.ts';

/** More than a large company invites in a week, and few enough that a stolen session is no source of mail. */
const liveInvitesMax = 100;
const hourMs = 3_600_000;
/** Each invite sends a mail: a person is not flooded by one workspace, and a workspace is no source of mail to everybody. */
const perHourMax = { toAddress: 5, inAll: 200 };

type Asked = { email: string; role: InvitedRole; caller: WorkspaceCaller; requestId: string };

/**
 * The token of a new invite, which is kept nowhere. Throws ALREADY_EXISTS for a member, RATE_LIMITED above a hundred that are live, or too
 * many within an hour, and what proposeDecider throws for a person who would decide.
 */
export async function createInviteOf(context: Context, { email, role, caller, requestId }: Asked): Promise<string> {
  const args = { email, role };
  await proposeDecider(context, caller, { from: null, to: role, subject: 'invite', args });
  const token = newInviteToken();
  const { workspaceId, user } = caller;
  await context.transaction(async (tx) => {
    const now = context.now();
    await holdRight(tx, caller, 'member.manage');
    if (await isMemberAddress(tx, workspaceId, email))
      throw new AppError('ALREADY_EXISTS', 'This address belongs to a member already', { param: 'email' });
    await refuseFlood(tx, { workspaceId, email, since: new Date(now.getTime() - hourMs) });
    await endInvitesOf(tx, workspaceId, email, now);
    if ((await countLiveInvites(tx, workspaceId, now)) >= liveInvitesMax)
      throw new AppError('RATE_LIMITED', `The workspace has ${liveInvitesMax} live invites; revoke some first`);
    const invitedBy = user.id;
    const expiresAt = new Date(now.getTime() + inviteLifetimeMs);
    const tokenHash = inviteTokenHash(token);
    const id = await insertInvite(tx, { workspaceId, email, role, tokenHash, invitedBy, createdAt: now, expiresAt });
    await publishInviteCreated(tx, context, { workspaceId, inviteId: id });
    const event = { workspaceId, action: 'invite.created', actor: invitedBy, verdict: 'allow', requestId } as const;
    await recordAudit(tx, { ...event, subject: id, details: { email, role } }, now);
  });
  return token;
}

async function refuseFlood(
  tx: Tx,
  { workspaceId, email, since }: { workspaceId: string; email: string; since: Date },
): Promise<void> {
  const toAddress = await countInvitesSince(tx, { workspaceId, email, since });
  const inAll = await countInvitesSince(tx, { workspaceId, since });
  if (toAddress < perHourMax.toAddress && inAll < perHourMax.inAll) return;
  throw new AppError('RATE_LIMITED', 'The workspace has sent too many invites within an hour', {
    headers: { 'retry-after': String(hourMs / 1_000) },
  });
}
