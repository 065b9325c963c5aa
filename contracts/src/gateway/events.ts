import { z } from 'zod';
import { ApprovalId, RunId, TaskId, WorkspaceId } from '../scalars.ts';
import { ApprovalStatus } from './audit.ts';
import { RunStatus, TaskStatus } from './tasks.ts';

const InWorkspace = { workspaceId: WorkspaceId };

/** What the gateway tells the other services: CloudEvents data by type. */
export const gatewayEvents = {
  'task.created.v1': z.strictObject({ ...InWorkspace, taskId: TaskId }),
  'task.moved.v1': z.strictObject({ ...InWorkspace, taskId: TaskId, from: TaskStatus, to: TaskStatus }),
  /** The job of the orchestrator: somebody has to work on this run now. */
  'run.enqueued.v1': z.strictObject({ ...InWorkspace, taskId: TaskId, runId: RunId }),
  'run.ended.v1': z.strictObject({ ...InWorkspace, taskId: TaskId, runId: RunId, status: RunStatus }),
  'approval.requested.v1': z.strictObject({ ...InWorkspace, runId: RunId, approvalId: ApprovalId }),
  'approval.resolved.v1': z.strictObject({
    ...InWorkspace,
    runId: RunId,
    approvalId: ApprovalId,
    status: ApprovalStatus,
  }),
} as const;

export type GatewayEventType = keyof typeof gatewayEvents;
export type GatewayEventData<Type extends GatewayEventType> = z.infer<(typeof gatewayEvents)[Type]>;
