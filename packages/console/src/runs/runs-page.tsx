import { useParams } from '@tanstack/react-router';
import { TaskDetail } from './task-detail.tsx';
import { TaskList } from './task-list.tsx';

/** `/runs`: what the workspace was asked to do. `/runs/{task_id}`: one task with what its runs did. */
export function RunsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  return id === undefined ? <TaskList /> : <TaskDetail id={id} key={id} />;
}
