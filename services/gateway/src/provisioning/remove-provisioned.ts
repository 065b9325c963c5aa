import type { UserId } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { endWordOf } from '../members/change-members.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { deleteMember } from '../store/members.ts';

type Removal = { workspaceId: string; userId: UserId; role: Role; actor: string };

/**
 * Ends a membership and all API keys of the member. The caller has locked the memberships and checked for the last
 * owner.
 */
export async function removeProvisioned(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { workspaceId, userId, role, actor }: Removal,
): Promise<void> {
  await deleteMember(tx, workspaceId, userId);
  const ended = role === 'owner' ? await endWordOf(tx, context, { workspaceId, userId }) : {};
  await publishMembersChanged(tx, context, workspaceId);
  const event = { workspaceId, action: 'member.removed', actor, requestId: null } as const;
  await recordAudit(tx, { ...event, verdict: 'allow', subject: userId, details: { role, ...ended } }, context.now());
}
