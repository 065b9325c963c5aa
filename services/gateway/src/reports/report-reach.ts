import { hasRole } from '@countersign/contracts';
import type { WorkspaceCaller } from '../guards.ts';

/** Partners and owners answer for what fails in a workspace, everybody else for their own. */
export function reportReachOf({ workspaceId, role, user }: WorkspaceCaller) {
  return { workspaceId, userId: hasRole(role, 'partner') ? null : user.id };
}
