import { AppError, mayDo } from '@countersign/contracts';
import type { Task } from '@countersign/contracts/gateway';
import { recordDenial } from '../audit/record-denial.ts';
import type { Context } from '../context.ts';
import { publishTaskChanged, publishTaskDeleted } from '../events.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordEvidence } from '../store/evidence.ts';
import { findTask, lockTask, markTaskDeleted, setTaskWords } from '../store/tasks.ts';
import { isAtRest } from './task-moves.ts';

type Deps = Pick<Context, 'database' | 'newEvent' | 'now' | 'databaseNow' | 'transaction'>;

type Change = { taskId: string; caller: WorkspaceCaller; requestId: string };

/**
 * Changes the text of a task. Undefined members stay unchanged. Throws NOT_FOUND, and ILLEGAL_TRANSITION while a run
 * works on the task.
 */
export async function changeTask(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  { title, description, ...change }: Change & { title: string | undefined; description: string | undefined },
): Promise<Task> {
  return context.transaction(async (tx) => {
    const now = context.now();
    const before = await taskAtRest(tx, change);
    const words = { title: title ?? before.title, description: description ?? before.description };
    if (words.title === before.title && words.description === before.description) return before;
    const task = await setTaskWords(tx, { id: before.id, ...words }, now);
    const place = { workspaceId: task.workspaceId, taskId: task.id };
    const metadata = { titleLength: words.title.length, descriptionLength: words.description.length };
    await recordEvidence(tx, { ...place, kind: 'task_changed', content: words, metadata }, now);
    await publishTaskChanged(tx, context, place);
    await recordAudit(tx, { action: 'task.changed', ...entryOf(change) }, now);
    return task;
  });
}

/** Deletes a task. Throws NOT_FOUND, PERMISSION_DENIED, and ILLEGAL_TRANSITION while a run works on the task. */
export async function removeTask(context: Deps, change: Change): Promise<void> {
  await assertMayDelete(context, change);
  await context.transaction(async (tx) => {
    const task = await taskAtRest(tx, change);
    await markTaskDeleted(tx, task.id, context.now());
    await publishTaskDeleted(tx, context, { workspaceId: task.workspaceId, taskId: task.id });
    await recordAudit(tx, { action: 'task.deleted', ...entryOf(change) }, context.now());
  });
}

async function taskAtRest(tx: Tx, { taskId, caller }: Change): Promise<Task> {
  const task = await lockTask(tx, caller.workspaceId, taskId);
  if (task === null) throw notFound();
  if (isAtRest(task.status)) return task;
  throw new AppError('ILLEGAL_TRANSITION', `The task is ${task.status}: cancel its run, or wait for its end`);
}

/** The creator of a task never changes, so no lock is needed. */
async function assertMayDelete(
  context: Pick<Context, 'database' | 'now' | 'transaction'>,
  { taskId, caller, requestId }: Change,
): Promise<void> {
  const { workspaceId, user, actor, role } = caller;
  const task = await findTask(context.database.reader, workspaceId, taskId);
  if (task === null) throw notFound();
  if (task.createdBy === user.id || mayDo(role, 'task.manage')) return;
  await recordDenial(context, {
    workspaceId,
    action: 'task.delete',
    actor,
    subject: taskId,
    requestId,
  });
  throw new AppError('PERMISSION_DENIED', 'Only the person who created a task, a partner or an owner may delete it');
}

function entryOf({ caller, taskId, requestId }: Change) {
  const { workspaceId, actor } = caller;
  return { workspaceId, actor, verdict: 'allow', subject: taskId, requestId } as const;
}
