import { agentOf, RunId } from '@countersign/contracts';
import type { Action } from '@countersign/contracts/governance-kernel';

/** The gateway makes the calls of a run as the workspace's agent, in the session that has the run's id; a key may name its session as it likes. */
export function runOfAction({ principal_id, session_id }: Action, workspaceId: string): RunId | null {
  return principal_id === agentOf(workspaceId) ? (RunId.safeParse(session_id).data ?? null) : null;
}
