import { z } from 'zod';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Instant, RunId, TaskId, WorkspaceId } from '../scalars.ts';
import { AuthMechanism, ReportedBody, ReportedQuery } from '../told-request.ts';
import { WorkspaceQuery } from './workspaces.ts';

/** A failed call (status 400 and above), without a value that its caller sent but for well-formed ids. */
export const CallReport = z.strictObject({
  id: z.string(),
  requestId: z.string(),
  createdAt: Instant,
  method: z.string(),
  /** The template of the route; names that no route has are `{…}`. */
  path: z.string(),
  pathIds: z.record(z.string(), z.string()),
  operation: z.string().nullable(),
  /** Null: the request named none, or none of its person's. */
  workspaceId: WorkspaceId.nullable(),
  status: z.int().min(400).max(599),
  /** Null where a service behind the gateway answered, and did not say. */
  errorCode: z.string().nullable(),
  reasonCode: z.string().nullable(),
  auth: AuthMechanism,
  /** A user id, the principal of an API key, or the id of a key that an agent has at the kernel. */
  principal: z.string(),
  taskId: TaskId.nullable(),
  runId: RunId.nullable(),
  /** The kernel's decision that the answer rests on. */
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
    "Failed calls of the last week, newest first: one's own, and for a partner or the owner those of the workspace.",
  method: 'GET',
  path: '/api/reports',
  auth: 'member',
  right: 'report.read',
  query: z.strictObject({
    ...WorkspaceQuery,
    status: z.coerce.number().int().min(400).max(599).optional(),
    /** Inclusive. */
    from: Instant.optional(),
    /** Exclusive. */
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
    'The latest failed call with a request id, also as a text to paste into an issue. One’s own that named no workspace is found in each.',
  method: 'GET',
  path: '/api/reports/{requestId}',
  auth: 'member',
  right: 'report.read',
  params: z.strictObject({ requestId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  reply: CallReport.extend({ text: z.string() }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
