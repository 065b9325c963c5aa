import type { StoredApproval } from '../store/approvals.ts';
import type { Reader } from '../store/database.ts';
import { countOtherApprovers, type Membership } from '../store/workspaces.ts';
import { mayResolve } from './may-resolve.ts';

type Resolver = Pick<Membership, 'workspaceId' | 'role'> & { resolver: string };

/** Whether this person may resolve the approval, as the workspace stands now. */
export async function isEntitled(
  reader: Reader,
  { requestedBy, startedBy }: Pick<StoredApproval, 'requestedBy' | 'startedBy'>,
  { workspaceId, role, resolver }: Resolver,
): Promise<boolean> {
  const others = await countOtherApprovers(reader, workspaceId, resolver);
  return mayResolve({ role, resolver, requestedBy, startedBy, anotherIsEntitled: others > 0 });
}
