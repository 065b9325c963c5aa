import type { ConsoleTask } from '@countersign/contracts/control-plane';
import type { Task } from '@countersign/contracts/gateway';

export function taskView({ id, title, description, status, ...task }: Task): ConsoleTask {
  const { createdBy, createdAt, updatedAt, completedAt } = task;
  return {
    ...{ task_id: id, title, description, status },
    created_by: createdBy,
    created_at: createdAt,
    updated_at: updatedAt,
    completed_at: completedAt,
  };
}
