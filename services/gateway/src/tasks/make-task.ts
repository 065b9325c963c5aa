import type { Task } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishTaskCreated } from '../events.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordEvidence } from '../store/evidence.ts';
import { insertTask } from '../store/tasks.ts';

type Input = { title: string; description: string; caller: WorkspaceCaller; requestId: string };

/** Creates a task with its audit entry, its event and the evidence of its text in one transaction. */
export async function makeTask(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { title, description, ...request }: Input,
): Promise<Task> {
  const { workspaceId, user, actor } = request.caller;
  const now = context.now();
  const task = await insertTask(tx, { workspaceId, title, description, createdBy: user.id }, now);
  const metadata = { titleLength: title.length, descriptionLength: description.length };
  const place = { workspaceId, taskId: task.id };
  await recordEvidence(tx, { ...place, kind: 'task_created', content: { title, description }, metadata }, now);
  await publishTaskCreated(tx, context, place);
  const event = { workspaceId, action: 'task.created', actor, requestId: request.requestId } as const;
  await recordAudit(tx, { ...event, verdict: 'allow', subject: task.id }, now);
  return task;
}
