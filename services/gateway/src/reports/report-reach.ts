import { mayDo } from '@countersign/contracts';
import type { WorkspaceCaller } from '../guards.ts';

/** Partners and owners see all failed calls of a workspace. Other members see their own. */
export function reportReachOf({ workspaceId, role, user }: WorkspaceCaller) {
  return { workspaceId, userId: mayDo(role, 'report.read_all') ? null : user.id };
}

/**
 * The person who may see failed calls outside of any workspace. `null` for keys and programs, which belong to one
 * workspace.
 */
export function personOutsideOf(caller: WorkspaceCaller): string | null {
  return 'key' in caller || 'device' in caller ? null : caller.user.id;
}
