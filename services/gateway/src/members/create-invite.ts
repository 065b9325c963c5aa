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

type Deps = Pick<Context, 'database' | 'newEvent' | 'kernel' | 'now' | 'databaseNow' | 'transaction'>;

/** More than a large company invites in a week, and few enough that a stolen session cannot send mail in bulk. */
const liveInvitesMax = 100;
const hourMs = 3_600_000;
/**
 * Each invite sends a mail. The limits protect people from floods and stop a workspace from mailing strangers in bulk.
 */
const perHourMax = { toAddress: 5, inAll: 200 };

type Input = { email: string; role: InvitedRole; caller: WorkspaceCaller; requestId: string };

/**
 * Creates an invite and returns its token, of which only the hash is stored. Throws ALREADY_EXISTS for a member, and
 * RATE_LIMITED above 100 live invites or too many within an hour. Throws what proposeDecider throws for a role that
 * decides.
 */
export async function createInviteOf(context: Deps, { email, role, caller, requestId }: Input): Promise<string> {
  const args = { email, role };
  await proposeDecider(context, caller, { from: null, to: role, subject: 'invite', args });
  const token = newInviteToken();
  const { workspaceId, user } = caller;
  await context.transaction(async (tx) => {
    const now = context.now();
    await holdRight(tx, caller, 'member.manage');
    if (await isMemberAddress(tx, workspaceId, email))
      throw new AppError('ALREADY_EXISTS', 'A member already has this address', { param: 'email' });
    await refuseFlood(tx, { workspaceId, email, since: new Date(now.getTime() - hourMs) });
    await endInvitesOf(tx, workspaceId, email, now);
    if ((await countLiveInvites(tx, workspaceId, now)) >= liveInvitesMax)
      throw new AppError(
        'RATE_LIMITED',
        `The workspace has ${liveInvitesMax} open invitations, which is the limit. Revoke one first`,
      );
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
  throw new AppError('RATE_LIMITED', 'The workspace sent too many invitations within an hour. Try again later', {
    headers: { 'retry-after': String(hourMs / 1_000) },
  });
}
