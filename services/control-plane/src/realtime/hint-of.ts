import { WorkspaceId, type EventOf } from '@countersign/contracts';
import {
  approvalRequested,
  approvalResolved,
  membersChanged,
  runEnded,
  taskChanged,
  taskCreated,
  taskDeleted,
  taskMoved,
  violationRecorded,
} from '@countersign/contracts/gateway';
import {
  kernelApprovalRequested,
  kernelApprovalResolved,
  kernelBudgetThreshold,
  kernelFenceSet,
  kernelIdentityRevoked,
  OrgId,
} from '@countersign/contracts/governance-kernel';
import { everyWorkspace, type HintScope, type NewHint } from '../store/hints.ts';

/** The events of gateway and kernel that pages may show. None of them is a command. */
export const toldEvents = [
  approvalRequested,
  approvalResolved,
  membersChanged,
  runEnded,
  taskChanged,
  taskCreated,
  taskDeleted,
  taskMoved,
  violationRecorded,
  kernelApprovalRequested,
  kernelApprovalResolved,
  kernelBudgetThreshold,
  kernelFenceSet,
  kernelIdentityRevoked,
] as const;

type ToldEvent = EventOf<(typeof toldEvents)[number]>;

/** The affected scope. An organisation means all of its workspaces, and `null` means that no page is affected. */
export type Concerned = { scope: HintScope } | { orgId: OrgId } | null;

/** The change that pages learn of by an event, and the workspaces that it concerns. */
export function hintOf(event: ToldEvent): NewHint & { concerns: Concerned } {
  switch (event.type) {
    case 'approval.requested.v1':
    case 'approval.resolved.v1':
      return { type: 'approval', ref: event.data.approvalId, ...here(event.data) };
    case 'workspace.members.changed.v1':
      return { type: 'members', ref: null, ...here(event.data), version: event.data.version };
    case 'run.ended.v1':
      return { type: 'run', ref: event.data.runId, ...here(event.data) };
    case 'task.changed.v1':
    case 'task.created.v1':
    case 'task.deleted.v1':
    case 'task.moved.v1':
      return { type: 'task', ref: event.data.taskId, ...here(event.data) };
    case 'violation.recorded.v1':
      return { type: 'violation', ref: event.data.violationId, ...here(event.data) };
    case 'kernel.approval.requested.v1':
    case 'kernel.approval.resolved.v1':
      return { type: 'approval', ref: event.data.approval_id, ...ofTenant(event.data.tenant_id) };
    case 'kernel.budget.threshold.v1':
      return { type: 'budget', ref: event.data.budget_id, ...ofTenant(event.data.tenant_id) };
    case 'kernel.identity.revoked.v1':
      return { type: 'identity', ref: event.data.principal_id, ...ofTenant(event.data.tenant_id) };
    case 'kernel.fence.set.v1':
      return {
        type: 'fence',
        ref: event.data.scope,
        version: event.data.epoch,
        concerns: concernedBy(event.data.scope),
      };
    default:
      return event satisfies never;
  }
}

function here({ workspaceId: scope }: { workspaceId: WorkspaceId }): { version: null; concerns: Concerned } {
  return { version: null, concerns: { scope } };
}

/** A tenant of `null` is the installation, so all workspaces are affected. */
function ofTenant(tenantId: string | null): { version: null; concerns: Concerned } {
  return { version: null, concerns: tenantId === null ? { scope: everyWorkspace } : ofName(tenantId) };
}

function ofName(tenantId: string): Concerned {
  const workspace = WorkspaceId.safeParse(tenantId);
  return workspace.success ? { scope: workspace.data } : null;
}

/**
 * The scope of a fence: `tenant:<id>`, `agent:<id>/…`, `tool:<id or *>/…`, `server:<id>/…` or `server:…`, `org:<id>`,
 * `system`.
 */
function concernedBy(scope: string): Concerned {
  const [, kind, name = '', rest] = /^([a-z]+)(?::([^/]*)(\/.*)?)?$/s.exec(scope) ?? [];
  if (kind === 'org') {
    const org = OrgId.safeParse(name);
    return org.success ? { orgId: org.data } : null;
  }
  const isEverybodys = kind === 'system' || name === '*' || (kind === 'server' && rest === undefined);
  return isEverybodys ? { scope: everyWorkspace } : ofName(name);
}
