import { z } from 'zod';
import { defineEvent } from '../event.ts';
import { ApprovalId, ControlVersion, Instant, InviteId, RunId, TaskId, UserId, WorkspaceId } from '../scalars.ts';
import { ApprovalStatus, RunStatus, TaskStatus } from '../run-states.ts';
import { Role } from './workspaces.ts';

const InWorkspace = { workspaceId: WorkspaceId };

export const taskCreated = defineEvent({
  type: 'task.created.v1',
  data: z.strictObject({ ...InWorkspace, taskId: TaskId }),
});

export const taskChanged = defineEvent({
  type: 'task.changed.v1',
  data: z.strictObject({ ...InWorkspace, taskId: TaskId }),
});

export const taskDeleted = defineEvent({
  type: 'task.deleted.v1',
  data: z.strictObject({ ...InWorkspace, taskId: TaskId }),
});

export const taskMoved = defineEvent({
  type: 'task.moved.v1',
  data: z.strictObject({ ...InWorkspace, taskId: TaskId, from: TaskStatus, to: TaskStatus }),
});

/** The job of the orchestrator: a worker has to continue this run now. */
export const runEnqueued = defineEvent({
  type: 'run.enqueued.v1',
  data: z.strictObject({ ...InWorkspace, taskId: TaskId, runId: RunId }),
  needsConsumer: true,
});

export const runEnded = defineEvent({
  type: 'run.ended.v1',
  data: z.strictObject({ ...InWorkspace, taskId: TaskId, runId: RunId, status: RunStatus }),
});

export const approvalRequested = defineEvent({
  type: 'approval.requested.v1',
  /** `runId` is `null` when the call was made with an API key and without a run. */
  data: z.strictObject({ ...InWorkspace, runId: RunId.nullable(), approvalId: ApprovalId }),
});

export const approvalResolved = defineEvent({
  type: 'approval.resolved.v1',
  data: z.strictObject({
    ...InWorkspace,
    runId: RunId.nullable(),
    approvalId: ApprovalId,
    status: ApprovalStatus,
  }),
});

/**
 * The complete list of members of a workspace. Each message replaces earlier ones, so a lost message does no harm. The
 * version rises with each change. The list is repeated from time to time as a confirmation.
 */
export const membersChanged = defineEvent({
  type: 'workspace.members.changed.v1',
  data: z.strictObject({
    ...InWorkspace,
    version: ControlVersion,
    members: z.array(z.strictObject({ userId: UserId, role: Role })),
  }),
});

export const violationRecorded = defineEvent({
  type: 'violation.recorded.v1',
  data: z.strictObject({ ...InWorkspace, violationId: z.string(), runId: RunId.nullable(), reasonCode: z.string() }),
});

export const inviteCreated = defineEvent({
  type: 'invite.created.v1',
  data: z.strictObject({ ...InWorkspace, inviteId: InviteId }),
  forOthers: 'subscriptions of the workspace',
});

/** A subscription was disabled: deliveries failed for too long, or the receiver rejects further events. */
export const subscriptionDisabled = defineEvent({
  type: 'subscription.disabled.v1',
  data: z.strictObject({ ...InWorkspace, subscriptionId: z.string(), channel: z.enum(['webhook', 'mail']) }),
  forOthers: 'subscriptions of the workspace',
});

/** The access of a person ended. Sessions of that person which began before are over. */
export const userAccessEnded = defineEvent({
  type: 'user.access-ended.v1',
  data: z.strictObject({ userId: UserId, endedAt: Instant }),
});
