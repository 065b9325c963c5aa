import { createTask } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishTaskCreated } from '../events.ts';
import { handleAct } from '../handle.ts';
import { recordAudit } from '../store/audit.ts';
import { recordEvidence } from '../store/evidence.ts';
import { insertTask } from '../store/tasks.ts';

export const createTaskRoute = (context: Context) =>
  handleAct(context)(createTask)(async (tx, { body: { title, description }, caller, requestId }) => {
    const { workspaceId, user, actor } = caller;
    const now = context.now();
    const task = await insertTask(tx, { workspaceId, title, description, createdBy: user.id }, now);
    const metadata = { titleLength: title.length, descriptionLength: description.length };
    const place = { workspaceId, taskId: task.id };
    await recordEvidence(tx, { ...place, kind: 'task_created', content: { title, description }, metadata }, now);
    await publishTaskCreated(tx, context, place);
    const event = { workspaceId, action: 'task.created', actor, requestId } as const;
    await recordAudit(tx, { ...event, verdict: 'allow', subject: task.id }, now);
    return task;
  });
