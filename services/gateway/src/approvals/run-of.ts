import type { StoredApproval } from '../store/approvals.ts';

type WaitingRun = { workspaceId: string; taskId: string; runId: string; stepId: string };

/** The run that waits for an approval. `null` for the call of an API key, which the caller repeats. */
export function runOf({ workspaceId, taskId, runId, stepId }: StoredApproval): WaitingRun | null {
  if (taskId === null || runId === null || stepId === null) return null;
  return { workspaceId, taskId, runId, stepId };
}
