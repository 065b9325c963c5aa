import { AppError } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { notFound, type WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import type { Reader, Tx } from '../store/database.ts';
import { endInvitesBy } from '../store/invites.ts';
import { countOwners, deleteMember, findRole, setRole } from '../store/members.ts';
import { holdRight } from './hold-role.ts';
import { proposeDecider } from './propose-decider.ts';
import { silenceWebhooksOf } from './silence-webhooks.ts';

type Change = { caller: WorkspaceCaller; userId: string; requestId: string };

/**
 * Throws NOT_FOUND for a person who is no member, LAST_OWNER, PERMISSION_DENIED for who is no owner any more, and what proposeDecider
 * throws for a person who would decide more.
 */
export async function changeRole(context: Context, { role, ...change }: Change & { role: Role }): Promise<void> {
  const { caller, userId, requestId } = change;
  const { workspaceId, actor } = caller;
  const from = await heldRole(context.database.reader, workspaceId, userId);
  await proposeDecider(context, caller, { from, to: role, subject: userId, args: {} });
  await context.transaction(async (tx) => {
    await holdRight(tx, caller, 'member.manage');
    const before = await heldRole(tx, workspaceId, userId);
    if (before === role) return;
    // The decision was made for a step from this role, and no other one.
    if (before !== from) throw new AppError('PRECONDITION_FAILED', 'The role of this member changed; try again');
    if (before === 'owner') await refuseLastOwner(tx, workspaceId);
    await setRole(tx, workspaceId, userId, role);
    const ended = before === 'owner' ? await endWordOf(tx, context, { workspaceId, userId }) : {};
    await publishMembersChanged(tx, context, workspaceId);
    const event = { workspaceId, action: 'member.role_changed', actor, requestId } as const;
    await recordAudit(
      tx,
      { ...event, verdict: 'allow', subject: userId, details: { before, role, ...ended } },
      context.now(),
    );
  });
}

/** Ends the membership of another person, by an owner, or one's own. Throws as changeRole does. */
export async function endMembership(context: Context, { caller, userId, requestId }: Change): Promise<void> {
  const { workspaceId, actor } = caller;
  await context.transaction(async (tx) => {
    await holdRight(tx, caller, userId === caller.user.id ? 'workspace.leave' : 'member.manage');
    const role = await heldRole(tx, workspaceId, userId);
    if (role === 'owner') await refuseLastOwner(tx, workspaceId);
    await deleteMember(tx, workspaceId, userId);
    const ended = role === 'owner' ? await endWordOf(tx, context, { workspaceId, userId }) : {};
    await publishMembersChanged(tx, context, workspaceId);
    const event = { workspaceId, action: 'member.removed', actor, requestId } as const;
    await recordAudit(tx, { ...event, verdict: 'allow', subject: userId, details: { role, ...ended } }, context.now());
  });
}

/**
 * An owner's arrangements for others end with the role: an invite would be a way back in, and a webhook a way to go on
 * listening. How much that was is told with the change.
 */
export async function endWordOf(
  tx: Tx,
  context: Context,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<{ invitesEnded: number; webhooksSilenced: number }> {
  return {
    invitesEnded: await endInvitesBy(tx, { workspaceId, invitedBy: userId }, context.now()),
    webhooksSilenced: await silenceWebhooksOf(tx, context, { workspaceId, userId }),
  };
}

/** The current role: reliable only under the lock of the workspace's memberships. */
async function heldRole(tx: Reader, workspaceId: string, userId: string): Promise<Role> {
  const role = await findRole(tx, workspaceId, userId);
  if (role === null) throw notFound();
  return role;
}

async function refuseLastOwner(tx: Tx, workspaceId: string): Promise<void> {
  if ((await countOwners(tx, workspaceId)) > 1) return;
  throw new AppError('LAST_OWNER', 'A workspace keeps an owner: make another member one first');
}
