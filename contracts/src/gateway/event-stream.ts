import { z } from 'zod';
import { AuditVerdict } from '../audit.ts';
import { defineRoute } from '../route.ts';
import { Instant, WorkspaceId } from '../scalars.ts';
import { WorkspaceQuery } from './workspaces.ts';

/** The content of an event of the stream: something changed, and where to read it. */
export const StreamedEvent = z.strictObject({
  workspaceId: WorkspaceId,
  /** `task.created`, `run.completed`, `approval.approved`: the action of the audit log. */
  type: z.string(),
  /** The id of the task, run, step or approval that changed. */
  subject: z.string().nullable(),
  verdict: AuditVerdict,
  reason: z.string(),
  at: Instant,
});
export type StreamedEvent = z.infer<typeof StreamedEvent>;

export const followEvents = defineRoute({
  operation: 'follow-events',
  summary:
    'Stream the committed events of the workspace: `task`, `run`, `step` and `approval`. To resume, send ' +
    'Last-Event-ID. The stream ends after five minutes.',
  method: 'GET',
  path: '/api/events',
  auth: 'member',
  right: 'event.follow',
  query: z.strictObject({ ...WorkspaceQuery, since: z.coerce.number().int().min(0).max(2_147_483_647).optional() }),
  media: 'event-stream',
  reply: z.string(),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
