import { AppError } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { notFound, type WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { countOwners, deleteMember, findRole, lockMembers, setRole } from '../store/members.ts';

type Change = { caller: WorkspaceCaller; userId: string; requestId: string };

/** Throws NOT_FOUND for a person who is no member, LAST_OWNER. */
export async function changeRole(context: Context, { role, ...change }: Change & { role: Role }): Promise<void> {
  const { caller, userId, requestId } = change;
  const { workspaceId, actor } = caller;
  await context.transaction(async (tx) => {
    const before = await heldRole(tx, workspaceId, userId);
    if (before === role) return;
    if (before === 'owner') await refuseLastOwner(tx, workspaceId);
    await setRole(tx, workspaceId, userId, role);
    await publishMembersChanged(tx, context, workspaceId);
    const event = { workspaceId, action: 'member.role_changed', actor, requestId } as const;
    await recordAudit(tx, { ...event, verdict: 'allow', subject: userId, details: { before, role } }, context.now());
  });
}

/** Throws NOT_FOUND for a person who is no member, LAST_OWNER. */
export async function endMembership(context: Context, { caller, userId, requestId }: Change): Promise<void> {
  const { workspaceId, actor } = caller;
  await context.transaction(async (tx) => {
    const role = await heldRole(tx, workspaceId, userId);
    if (role === 'owner') await refuseLastOwner(tx, workspaceId);
    await deleteMember(tx, workspaceId, userId);
    await publishMembersChanged(tx, context, workspaceId);
    const event = { workspaceId, action: 'member.removed', actor, requestId } as const;
    await recordAudit(tx, { ...event, verdict: 'allow', subject: userId, details: { role } }, context.now());
  });
}

/** Under the lock of the workspace's memberships. */
async function heldRole(tx: Tx, workspaceId: string, userId: string): Promise<Role> {
  await lockMembers(tx, workspaceId);
  const role = await findRole(tx, workspaceId, userId);
  if (role === null) throw notFound();
  return role;
}

async function refuseLastOwner(tx: Tx, workspaceId: string): Promise<void> {
  if ((await countOwners(tx, workspaceId)) > 1) return;
  throw new AppError('LAST_OWNER', 'A workspace keeps an owner: make another member one first');
}
