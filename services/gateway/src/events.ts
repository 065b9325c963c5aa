import {
  Instant,
  InviteId,
  RunId,
  TaskId,
  WorkspaceId,
  type EventDefinition,
  type UserId,
} from '@countersign/contracts';
import {
  approvalRequested,
  approvalResolved,
  membersChanged,
  runEnded,
  inviteCreated,
  runEnqueued,
  subscriptionDisabled,
  taskChanged,
  taskCreated,
  taskDeleted,
  taskMoved,
  userAccessEnded,
  violationRecorded,
  type RunStatus,
  type TaskStatus,
  type WorkspaceApproval,
} from '@countersign/contracts/gateway';
import { recordEventsIn, type OutgoingEvent } from '@countersign/messaging';
import type { Context } from './context.ts';
import { announceEvent } from './notifications/announce-event.ts';
import type { Tx } from './store/database.ts';
import { nextMemberList, takeUntoldLists } from './store/members.ts';

type Deps = Pick<Context, 'newEvent' | 'databaseNow'>;

/*
 * The events of the gateway. Each one is written in the transaction that makes it true. The gateway handles two of them
 * itself: `run.enqueued.v1` (workers/orchestrator.ts) and `run.ended.v1` (workers/approval-listener.ts). It handles two
 * events of the kernel: `kernel.approval.requested.v1` and `kernel.approval.resolved.v1`
 * (workers/approval-listener.ts).
 */

type TaskPlace = { workspaceId: string; taskId: string };
type RunPlace = TaskPlace & { runId: string };

export async function publishTaskCreated(tx: Tx, context: Deps, place: TaskPlace): Promise<void> {
  await publish(tx, context, taskCreated, taskDataOf(place));
}

export async function publishTaskChanged(tx: Tx, context: Deps, place: TaskPlace): Promise<void> {
  await publish(tx, context, taskChanged, taskDataOf(place));
}

export async function publishTaskDeleted(tx: Tx, context: Deps, place: TaskPlace): Promise<void> {
  await publish(tx, context, taskDeleted, taskDataOf(place));
}

export async function publishTaskMoved(
  tx: Tx,
  context: Deps,
  { from, to, ...place }: TaskPlace & { from: TaskStatus; to: TaskStatus },
): Promise<void> {
  await publish(tx, context, taskMoved, { ...taskDataOf(place), from, to });
}

/** Publishes the job for the orchestrator, in the transaction that made the run due. */
export async function publishRunEnqueued(tx: Tx, context: Deps, place: RunPlace): Promise<void> {
  await publish(tx, context, runEnqueued, runDataOf(place));
}

/** Publishes the job for the orchestrator, and that the task of the new run is queued. */
export async function publishTaskQueued(
  tx: Tx,
  context: Deps,
  { from, ...place }: RunPlace & { from: TaskStatus },
): Promise<void> {
  const moved = made(context, taskMoved, { ...taskDataOf(place), from, to: 'queued' });
  await record(tx, context, [moved, made(context, runEnqueued, runDataOf(place))]);
}

export async function publishRunEnded(
  tx: Tx,
  context: Deps,
  { status, ...place }: RunPlace & { status: RunStatus },
): Promise<void> {
  await publish(tx, context, runEnded, { ...runDataOf(place), status });
}

type ViolationPlace = { id: string; workspaceId: string; runId: string | null; reasonCode: string };
type ApprovalPlace = Pick<WorkspaceApproval, 'workspaceId' | 'runId' | 'id'>;

export async function publishApprovalRequested(tx: Tx, context: Deps, approval: ApprovalPlace): Promise<void> {
  await publish(tx, context, approvalRequested, approvalDataOf(approval));
}

export async function publishApprovalResolved(
  tx: Tx,
  context: Deps,
  { status, ...approval }: ApprovalPlace & Pick<WorkspaceApproval, 'status'>,
): Promise<void> {
  await publish(tx, context, approvalResolved, { ...approvalDataOf(approval), status });
}

/** Publishes the members after a person joined, left or changed roles. */
export async function publishMembersChanged(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  workspaceId: string,
): Promise<void> {
  await publish(tx, context, membersChanged, await nextMemberList(tx, workspaceId, context.now()));
}

/** Publishes the members again, so that receivers know that the list is still current. */
export async function publishMembersAgain(tx: Tx, context: Deps, times: { before: Date; now: Date }): Promise<void> {
  for (const list of await takeUntoldLists(tx, times)) await publish(tx, context, membersChanged, list);
}

export async function publishViolation(tx: Tx, context: Deps, violation: ViolationPlace): Promise<void> {
  const { id: violationId, workspaceId, runId, reasonCode } = violation;
  const place = { workspaceId: WorkspaceId.parse(workspaceId), runId: RunId.nullable().parse(runId) };
  await publish(tx, context, violationRecorded, { ...place, violationId, reasonCode });
}

export async function publishInviteCreated(
  tx: Tx,
  context: Deps,
  invite: { workspaceId: string; inviteId: string },
): Promise<void> {
  const { workspaceId, inviteId } = invite;
  const place = { workspaceId: WorkspaceId.parse(workspaceId) };
  await publish(tx, context, inviteCreated, { ...place, inviteId: InviteId.parse(inviteId) });
}

/** Publishes that all sessions that a person began before now have ended, in every service. */
export async function publishAccessEnded(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  userIds: readonly UserId[],
  now: Date,
): Promise<void> {
  const endedAt = Instant.parse(now.toISOString());
  const events = userIds.map((userId) => newEvent(userAccessEnded, { userId, endedAt }, { subject: userId }));
  await recordEventsIn(tx, events);
}

export async function publishSubscriptionDisabled(
  tx: Tx,
  context: Deps,
  subscription: { workspaceId: WorkspaceId; subscriptionId: string; channel: 'webhook' | 'mail' },
): Promise<void> {
  await publish(tx, context, subscriptionDisabled, subscription);
}

type OfWorkspace = { workspaceId: WorkspaceId };
type Made = { event: OutgoingEvent; type: string; data: OfWorkspace };

function made<Data extends OfWorkspace>(
  { newEvent }: Pick<Deps, 'newEvent'>,
  definition: EventDefinition<string, Data>,
  data: Data,
): Made {
  return { event: newEvent(definition, data, { tenantid: data.workspaceId }), type: definition.type, data };
}

async function publish<Data extends OfWorkspace>(
  tx: Tx,
  context: Deps,
  definition: EventDefinition<string, Data>,
  data: Data,
): Promise<void> {
  await record(tx, context, [made(context, definition, data)]);
}

async function record(tx: Tx, { databaseNow }: Pick<Deps, 'databaseNow'>, events: readonly Made[]): Promise<void> {
  await recordEventsIn(
    tx,
    events.map(({ event }) => event),
  );
  for (const { type, data } of events) await announceEvent(tx, { type, data, now: () => databaseNow(tx) });
}

function taskDataOf({ workspaceId, taskId }: TaskPlace) {
  return { workspaceId: WorkspaceId.parse(workspaceId), taskId: TaskId.parse(taskId) };
}

function runDataOf({ runId, ...place }: RunPlace) {
  return { ...taskDataOf(place), runId: RunId.parse(runId) };
}

function approvalDataOf({ workspaceId, runId, id }: ApprovalPlace) {
  return { workspaceId, runId, approvalId: id };
}
