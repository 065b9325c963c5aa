import { Instant, WorkspaceId } from '@countersign/contracts';
import type { ReportedQuery } from '@countersign/contracts';
import type { CallReport } from '@countersign/contracts/gateway';

/** Returns a report of a failed call in its stored form. */
export function callReport(workspaceId: string): CallReport {
  const nothing: ReportedQuery = { state: 'none', members: [], unknownMembers: 0, isCut: false };
  return {
    id: `rpt_${'Z'.repeat(26)}`,
    requestId: 'filled-call',
    createdAt: Instant.parse('2026-01-01T00:00:00.000Z'),
    method: 'GET',
    path: '/api/tasks',
    pathIds: {},
    operation: 'list-tasks',
    workspaceId: WorkspaceId.parse(workspaceId),
    status: 400,
    errorCode: 'UNKNOWN_MEMBER',
    reasonCode: null,
    auth: 'session',
    principal: `usr_${'0'.repeat(26)}`,
    taskId: null,
    runId: null,
    decisionId: null,
    query: nothing,
    body: { ...nothing, contentType: null, bytes: null },
    version: '0.1.0',
  };
}
