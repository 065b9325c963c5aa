import { hasRole, mayDo, type Right } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import type { Tx } from '../store/database.ts';
import { findRole, lockMembers } from '../store/members.ts';
import { leastRoleFor, roleTooLow } from '../workspaces/role.ts';

type Caller = Pick<WorkspaceCaller, 'workspaceId' | 'user'>;

/**
 * Locks the memberships of a workspace until the transaction ends, for an act that requires this role. The caller may
 * be removed or demoted while the request waits, so the role is read again. Throws NOT_FOUND, PERMISSION_DENIED.
 */
export async function holdRole(tx: Tx, { workspaceId, user }: Caller, least: Role): Promise<void> {
  const role = await heldRole(tx, { workspaceId, user });
  if (!hasRole(role, least)) throw roleTooLow(least, role);
}

/** Like `holdRole`, for an act that requires a right. */
export async function holdRight(tx: Tx, caller: Caller, right: Right): Promise<void> {
  const role = await heldRole(tx, caller);
  if (!mayDo(role, right)) throw roleTooLow(leastRoleFor(right), role);
}

async function heldRole(tx: Tx, { workspaceId, user }: Caller): Promise<Role> {
  await lockMembers(tx, workspaceId);
  const role = await findRole(tx, workspaceId, user.id);
  if (role === null) throw notFound();
  return role;
}
