import type { RunStatus, TaskStatus } from '@countersign/contracts/gateway';

/** The moves that a person may request. All other moves follow from the run. */
const movesOfPeople: Record<TaskStatus, readonly TaskStatus[]> = {
  pending: ['queued', 'cancelled'],
  queued: ['cancelled'],
  running: ['cancelled'],
  awaiting_approval: ['cancelled'],
  completed: ['queued'],
  failed: ['queued'],
  cancelled: ['queued'],
};

export function allowedMoves(status: TaskStatus): readonly TaskStatus[] {
  return movesOfPeople[status];
}

export function mayMove(from: TaskStatus, to: TaskStatus): boolean {
  return movesOfPeople[from].includes(to);
}

/** While a run works on a task, the task cannot be edited or deleted. */
export function isAtRest(status: TaskStatus): boolean {
  return !['queued', 'running', 'awaiting_approval'].includes(status);
}

const taskStatusOfRun: Record<RunStatus, TaskStatus> = {
  queued: 'queued',
  running: 'running',
  awaiting_approval: 'awaiting_approval',
  completed: 'completed',
  failed: 'failed',
  denied: 'failed',
  budget_exhausted: 'failed',
  cancelled: 'cancelled',
};

/** A task shows the status of its latest run. */
export function taskStatusFor(run: RunStatus): TaskStatus {
  return taskStatusOfRun[run];
}
