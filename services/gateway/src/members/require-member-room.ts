import { AppError } from '@countersign/contracts';
import type { Tx } from '../store/database.ts';
import { countPeopleOf, lockLimits } from '../store/entitlements.ts';

/**
 * Call it after a member was added, while the memberships are locked. A person counts once across all workspaces of an
 * organisation. Throws LIMIT_REACHED when the organisation has more people than its plan permits. The transaction must
 * not commit then.
 */
export async function requireMemberRoom(tx: Tx, workspaceId: string): Promise<void> {
  const locked = await lockLimits(tx, workspaceId);
  const limit = locked?.limits.members ?? null;
  if (locked === null || limit === null) return;
  const people = await countPeopleOf(tx, locked.orgId);
  if (people <= limit) return;
  const used = people - 1;
  const message =
    `The organisation has ${used} members, and its plan allows ${limit}. ` +
    'Ask its administrator to remove a member or to choose a larger plan, and accept the invite again';
  throw new AppError('LIMIT_REACHED', message, { details: { name: 'members', limit, used } });
}
