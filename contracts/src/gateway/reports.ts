import { z } from 'zod';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Instant, RunId, TaskId, WorkspaceId } from '../scalars.ts';
import { WorkspaceQuery } from './workspaces.ts';

/** What a member of a request is, and never what is in it. `path` is made of names that the contract of the route knows. */
export const ReportedMember = z.strictObject({
  /** Such as `policyConfig.blockedTools[]`; `$` is the whole. */
  path: z.string(),
  type: z.enum(['object', 'array', 'string', 'number', 'boolean', 'null']),
  /** Characters of a text, items of an array, members of an object; the greatest, where several share the path. */
  size: z.int().min(0).nullable(),
});
export type ReportedMember = z.infer<typeof ReportedMember>;

const Shape = {
  /** `unread`: refused before it was read, or passed on as it came. `malformed`: it could not be read. */
  state: z.enum(['none', 'unread', 'malformed', 'read']),
  members: z.array(ReportedMember),
  /** Members that the contract does not know. Their names may be anything, so they are counted and not told. */
  unknownMembers: z.int().min(0),
  /** There is more than is told. */
  isCut: z.boolean(),
};

export const ReportedQuery = z.strictObject(Shape);
export type ReportedQuery = z.infer<typeof ReportedQuery>;

export const ReportedBody = z.strictObject({
  ...Shape,
  /** `other` for every type that no route takes. */
  contentType: z.string().nullable(),
  /** As received, or as declared for what was not read; null where nobody knows. */
  bytes: z.int().min(0).nullable(),
});
export type ReportedBody = z.infer<typeof ReportedBody>;

/** What a caller tried to prove itself by. Whether it was taken, the status says. */
export const AuthMechanism = z.enum(['session', 'browser_session', 'api_key', 'agent_key', 'none', 'unknown']);
export type AuthMechanism = z.infer<typeof AuthMechanism>;

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
  workspaceId: WorkspaceId,
  status: z.int().min(400).max(599),
  /** Null where the answer was passed on from the kernel. */
  errorCode: z.string().nullable(),
  reasonCode: z.string().nullable(),
  auth: AuthMechanism,
  /** A user id, or the principal of an API key. */
  principal: z.string(),
  taskId: TaskId.nullable(),
  runId: RunId.nullable(),
  /** The kernel's decision that the answer rests on. */
  decisionId: DecisionId.nullable(),
  query: ReportedQuery,
  body: ReportedBody,
  /** Of the gateway. */
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
  summary: 'The latest failed call with a request id, also as a text to paste into an issue.',
  method: 'GET',
  path: '/api/reports/{requestId}',
  auth: 'member',
  params: z.strictObject({ requestId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  reply: CallReport.extend({ text: z.string() }),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
