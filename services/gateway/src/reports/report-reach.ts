import { mayDo } from '@countersign/contracts';
import type { WorkspaceCaller } from '../guards.ts';

/** Partners and owners answer for what fails in a workspace, everybody else for their own. */
export function reportReachOf({ workspaceId, role, user }: WorkspaceCaller) {
  return { workspaceId, userId: mayDo(role, 'report.read_all') ? null : user.id };
}

/** Who sees what failed outside of any workspace: its person alone, and neither a key nor a program of theirs, which are for one workspace. */
export function personOutsideOf(caller: WorkspaceCaller): string | null {
  return 'key' in caller || 'device' in caller ? null : caller.user.id;
}
