import type { RunStatus, Task, WorkspaceSettings } from '@countersign/contracts/gateway';
import { RunStatus as RunStatusShape } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { StepFacts } from '../runs/conversation.ts';
import type { Lease } from '../store/leases.ts';
import { findLeasedRun } from '../store/leases.ts';
import { loadSteps } from '../store/steps.ts';
import { findTask } from '../store/tasks.ts';
import { getSettings } from '../store/workspaces.ts';

/** All that the next move depends on. */
export type LoadedRun = {
  status: RunStatus;
  iterationBudget: number;
  startedBy: string;
  task: Task;
  steps: StepFacts[];
  settings: WorkspaceSettings;
};

/** Null when the lease is not worth anything any more. */
export async function loadRun({ database }: Context, lease: Lease): Promise<LoadedRun | null> {
  const run = await findLeasedRun(database.pool, lease);
  const task = await findTask(database.pool, lease.workspaceId, lease.taskId);
  if (run === null || task === null) return null;
  return {
    status: RunStatusShape.parse(run.status),
    iterationBudget: run.iteration_budget,
    startedBy: run.started_by,
    task,
    steps: await loadSteps(database.pool, lease.runId),
    settings: await getSettings(database.pool, lease.workspaceId),
  };
}
