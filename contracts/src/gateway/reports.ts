import { z } from 'zod';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Instant, RunId, TaskId, WorkspaceId } from '../scalars.ts';
import { AuthMechanism, ReportedBody, ReportedQuery } from '../told-request.ts';
import { WorkspaceQuery } from './workspaces.ts';

/** A failed call (status 400 and above). Its only values of the caller are well-formed ids. */
export const CallReport = z.strictObject({
  id: z.string(),
  requestId: z.string(),
  createdAt: Instant,
  method: z.string(),
  /** The path template of the route. Unknown segments are `{…}`. */
  path: z.string(),
  pathIds: z.record(z.string(), z.string()),
  operation: z.string().nullable(),
  /** `null` when the request named no device of this person. */
  workspaceId: WorkspaceId.nullable(),
  status: z.int().min(400).max(599),
  /** `null` when a service behind the gateway answered without a report. */
  errorCode: z.string().nullable(),
  reasonCode: z.string().nullable(),
  auth: AuthMechanism,
  /** A user id, the principal of an API key, or the id of a key that an agent has at the kernel. */
  principal: z.string(),
  taskId: TaskId.nullable(),
  runId: RunId.nullable(),
  /** The kernel's decision behind the answer. */
  decisionId: DecisionId.nullable(),
  query: ReportedQuery,
  body: ReportedBody,
  /** The version of the gateway. */
  version: z.string(),
});
export type CallReport = z.infer<typeof CallReport>;

export const listReports = defineRoute({
  operation: 'list-reports',
  summary:
    "List the person's failed calls of the last week, newest first. Partners and owners see those of the whole " +
    'workspace.',
  method: 'GET',
  path: '/api/reports',
  auth: 'member',
  right: 'report.read',
  query: z.strictObject({
    ...WorkspaceQuery,
    status: z.coerce.number().int().min(400).max(599).optional(),
    /** The start of the period, inclusive. */
    from: Instant.optional(),
    /** The end of the period, exclusive. */
    to: Instant.optional(),
    taskId: TaskId.optional(),
    ...PageQuery,
  }),
  reply: camelPage(CallReport),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const getReport = defineRoute({
  operation: 'get-report',
  summary:
    "Get the latest failed call with a request id, also as text for an issue. The person's own calls without a " +
    'workspace are found in every workspace.',
  method: 'GET',
  path: '/api/reports/{requestId}',
  auth: 'member',
  right: 'report.read',
  params: z.strictObject({ requestId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  reply: CallReport.extend({ text: z.string() }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
