import { useParams } from '@tanstack/react-router';
import { TaskDetail } from './task-detail.tsx';
import { TaskList } from './task-list.tsx';

/** `/runs`: the tasks of the workspace. `/runs/{task_id}`: one task with its runs. */
export function RunsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  return id === undefined ? <TaskList /> : <TaskDetail id={id} key={id} />;
}
