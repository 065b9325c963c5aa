import { mayDo } from '@countersign/contracts';
import type { WorkspaceCaller } from '../guards.ts';

/** Owners see all keys of a workspace. Other members see their own. */
export function reachOf({ workspaceId, role, user }: WorkspaceCaller): { workspaceId: string; userId: string | null } {
  return { workspaceId, userId: mayDo(role, 'key.manage') ? null : user.id };
}
