import type { RunStatus, Task, WorkspaceSettings } from '@countersign/contracts/gateway';
import { RunStatus as RunStatusShape } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { StepFacts } from '../runs/conversation.ts';
import type { Lease } from '../store/leases.ts';
import { findLeasedRun } from '../store/leases.ts';
import { loadSteps } from '../store/steps.ts';
import { findTask } from '../store/tasks.ts';
import { getSettings } from '../store/workspaces.ts';

/** The state that decides the next move. */
export type LoadedRun = {
  status: RunStatus;
  iterationBudget: number;
  startedBy: string;
  task: Task;
  steps: StepFacts[];
  settings: WorkspaceSettings;
  settingsVersion: number;
};

/**
 * `null` when the lease no longer counts. `settled`: leading steps that this worker loaded before. They never change.
 */
export async function loadRun(
  { database }: Context,
  lease: Lease,
  settled: readonly StepFacts[],
): Promise<LoadedRun | null> {
  const run = await findLeasedRun(database.reader, lease);
  const task = await findTask(database.reader, lease.workspaceId, lease.taskId);
  if (run === null || task === null) return null;
  const { settings, version } = await getSettings(database.reader, lease.workspaceId);
  return {
    status: RunStatusShape.parse(run.status),
    iterationBudget: run.iterationBudget,
    startedBy: run.startedBy,
    task,
    steps: [...settled, ...(await loadSteps(database.reader, { runId: lease.runId, after: settled.length }))],
    settings,
    settingsVersion: version,
  };
}
