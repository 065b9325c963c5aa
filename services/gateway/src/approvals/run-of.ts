import type { StoredApproval } from '../store/approvals.ts';

type WaitingRun = { workspaceId: string; taskId: string; runId: string; stepId: string };

/** The run that waits for an approval; null: the call of an API key asks, and its caller repeats it. */
export function runOf({ workspaceId, taskId, runId, stepId }: StoredApproval): WaitingRun | null {
  if (taskId === null || runId === null || stepId === null) return null;
  return { workspaceId, taskId, runId, stepId };
}
