import { AppError } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { recordAudit } from '../store/audit.ts';
import type { Reader, Tx } from '../store/database.ts';
import { endInvitesBy } from '../store/invites.ts';
import { countOwners, deleteMember, findRole, setRole } from '../store/members.ts';
import { holdRight } from './hold-role.ts';
import { proposeDecider } from './propose-decider.ts';
import { silenceWebhooksOf } from './silence-webhooks.ts';

type Deps = Pick<Context, 'database' | 'newEvent' | 'kernel' | 'now' | 'databaseNow' | 'transaction'>;

type Change = { caller: WorkspaceCaller; userId: string; requestId: string };

/**
 * Changes the role of a member. Throws NOT_FOUND for a person who is not a member, LAST_OWNER, and PERMISSION_DENIED
 * when the caller is no longer an owner. Throws PRECONDITION_FAILED when the role changed in the meantime. Throws what
 * proposeDecider throws for a role with more rights to decide.
 */
export async function changeRole(context: Deps, { role, ...change }: Change & { role: Role }): Promise<void> {
  const { caller, userId, requestId } = change;
  const { workspaceId, actor } = caller;
  const from = await heldRole(context.database.reader, workspaceId, userId);
  await proposeDecider(context, caller, { from, to: role, subject: userId, args: {} });
  await context.transaction(async (tx) => {
    await holdRight(tx, caller, 'member.manage');
    const before = await heldRole(tx, workspaceId, userId);
    if (before === role) return;
    // The decision covers a change from this role only.
    if (before !== from)
      throw new AppError('PRECONDITION_FAILED', 'The role of this member changed after you read it. Read it again');
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

/**
 * Ends the membership of another person, for an owner, or of the caller. Throws NOT_FOUND, LAST_OWNER and
 * PERMISSION_DENIED like changeRole.
 */
export async function endMembership(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  { caller, userId, requestId }: Change,
): Promise<void> {
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
 * An owner's invites and webhooks end with the role. An invite would let the person return, and a webhook would keep
 * sending them events. The result states how many ended.
 */
export async function endWordOf(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<{ invitesEnded: number; webhooksSilenced: number }> {
  return {
    invitesEnded: await endInvitesBy(tx, { workspaceId, invitedBy: userId }, context.now()),
    webhooksSilenced: await silenceWebhooksOf(tx, context, { workspaceId, userId }),
  };
}

/** The current role. It is reliable only under the lock on the memberships. */
async function heldRole(tx: Reader, workspaceId: string, userId: string): Promise<Role> {
  const role = await findRole(tx, workspaceId, userId);
  if (role === null) throw notFound();
  return role;
}

async function refuseLastOwner(tx: Tx, workspaceId: string): Promise<void> {
  if ((await countOwners(tx, workspaceId)) > 1) return;
  throw new AppError('LAST_OWNER', 'This member is the last owner. Make another member an owner first');
}
