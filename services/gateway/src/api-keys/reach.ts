import { mayDo } from '@countersign/contracts';
import type { WorkspaceCaller } from '../guards.ts';

/** An owner answers for all keys of a workspace, everybody else for their own. */
export function reachOf({ workspaceId, role, user }: WorkspaceCaller): { workspaceId: string; userId: string | null } {
  return { workspaceId, userId: mayDo(role, 'key.manage') ? null : user.id };
}
