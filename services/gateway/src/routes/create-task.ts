import { createTask, taskCreated } from '@countersign/contracts/gateway';
import { recordEvents } from '@countersign/messaging';
import type { Context } from '../context.ts';
import type { Handles } from '../handle.ts';
import { recordAudit } from '../store/audit.ts';
import { recordEvidence } from '../store/evidence.ts';
import { insertTask } from '../store/tasks.ts';

export const createTaskRoute = (context: Context, { forWorkspace }: Handles) =>
  forWorkspace(createTask, async ({ body: { title, description }, caller, requestId }) => {
    const { workspaceId, session } = caller;
    return context.transaction(async (tx) => {
      const now = context.now();
      const task = await insertTask(tx, { workspaceId, title, description, createdBy: session.user.id }, now);
      const metadata = { titleLength: title.length, descriptionLength: description.length };
      const place = { workspaceId, taskId: task.id };
      await recordEvidence(tx, { ...place, kind: 'task_created', content: { title, description }, metadata }, now);
      await recordEvents(tx, [context.newEvent(taskCreated, place, { tenantid: workspaceId })]);
      const event = { workspaceId, action: 'task.created', actor: session.user.id, requestId } as const;
      await recordAudit(tx, { ...event, verdict: 'allow', subject: task.id }, now);
      return task;
    });
  });
