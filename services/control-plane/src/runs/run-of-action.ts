import { agentOf, RunId } from '@countersign/contracts';
import type { Action } from '@countersign/contracts/governance-kernel';

/**
 * The run of an action. The gateway calls as the agent of the workspace, in a session with the id of the run. Other
 * callers may choose any session name, so `null` is returned for them.
 */
export function runOfAction({ principal_id, session_id }: Action, workspaceId: string): RunId | null {
  return principal_id === agentOf(workspaceId) ? (RunId.safeParse(session_id).data ?? null) : null;
}
