import { hasRole } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import { notFound, type WorkspaceCaller } from '../guards.ts';
import type { Tx } from '../store/database.ts';
import { findRole, lockMembers } from '../store/members.ts';
import { roleTooLow } from '../workspaces/role.ts';

/**
 * Holds the memberships of a workspace until the transaction ends, for an act of somebody who is let in with this role. A request may
 * wait here while its caller is removed or made less, so what the guard saw is looked at again. Throws NOT_FOUND, PERMISSION_DENIED.
 */
export async function holdRole(
  tx: Tx,
  { workspaceId, user }: Pick<WorkspaceCaller, 'workspaceId' | 'user'>,
  least: Role,
): Promise<void> {
  await lockMembers(tx, workspaceId);
  const role = await findRole(tx, workspaceId, user.id);
  if (role === null) throw notFound();
  if (!hasRole(role, least)) throw roleTooLow(least, role);
}
