import { AppError } from '@countersign/contracts';
import { isPersonName } from '@countersign/policy';

/**
 * A requester never decides, so an agent under the name of a person would keep that person from voting. Throws PERMISSION_DENIED for such
 * a name in every spelling that a reader takes for one, at every door.
 */
export function requireAgentName(principal: string): void {
  if (!isPersonName(principal)) return;
  throw new AppError('PERMISSION_DENIED', 'This is the name of a person; give the agent one of its own', {
    param: 'principal_id',
  });
}
