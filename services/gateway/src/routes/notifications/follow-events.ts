import type { IncomingMessage } from 'node:http';
import { AppError, keyOfPrincipal, startDeadline } from '@countersign/contracts';
import { followEvents, type AuditEntry, type StreamedEvent } from '@countersign/contracts/gateway';
import { openEventStream, takenOver, type StreamEvent } from '@countersign/service-kit';
import { followLog } from '../../audit/follow-log.ts';
import { cutWhenOver } from '../../console/cut-when-over.ts';
import type { Context } from '../../context.ts';
import type { WorkspaceCaller } from '../../guards.ts';
import { handleWorkspace } from '../../handle.ts';
import { findAuditEnd, listAuditFrom } from '../../store/audit.ts';

/** The longest time that a stream continues after its token has ended or its key has expired. */
const streamMaxMs = 300_000;

/** Without a place to resume from, the stream begins with the first entry after it was opened. */
export const followEventsRoute = (context: Context) =>
  handleWorkspace(followEvents)(async ({ caller, query, req, res, signal }): Promise<typeof takenOver> => {
    const { logWatch: watch } = context;
    const { reader } = context.database;
    const { workspaceId } = caller;
    const after = lastSeen(req) ?? query.since ?? (await findAuditEnd(reader, workspaceId)).seq;
    const deadline = startDeadline({ ms: streamMaxMs, signal });
    const stream = openEventStream({ res, signal: deadline.signal });
    stream.ended.addEventListener('abort', deadline.clear, { once: true });
    cutWhenOver(context, caller, stream.ended).addEventListener('abort', stream.close, { once: true });
    const listFrom = (seq: number, limit: number) => listAuditFrom(reader, { workspaceId, seq, limit });
    for await (const entry of followLog({ workspaceId, after, watch, listFrom, signal: stream.ended })) {
      if (endsReading(entry, caller)) break;
      const event = eventOf(entry);
      if (event !== null && !(await stream.send(event))) break;
    }
    stream.close();
    return takenOver;
  });

/**
 * Whether the stream ends here: the caller is no longer a member, or the API key was revoked. A reader that reconnects
 * is authorized again.
 */
function endsReading({ action, subject }: AuditEntry, { user, actor }: WorkspaceCaller): boolean {
  if (action === 'member.removed') return subject === user.id;
  return action === 'api_key.revoked' && subject !== null && subject === keyOfPrincipal(actor);
}

/**
 * The place that a client sends automatically when it reconnects. It is newer than the `since` of its first request.
 */
function lastSeen(req: IncomingMessage): number | null {
  const header = req.headers['last-event-id'];
  if (header === undefined || header === '') return null;
  if (typeof header === 'string' && /^\d{1,9}$/.test(header)) return Number(header);
  throw new AppError('INVALID_REQUEST', 'Last-Event-ID was not issued by this server. Connect without it', {
    param: 'Last-Event-ID',
  });
}

const streamed: ReadonlySet<string> = new Set(['task', 'run', 'step', 'approval']);

/** `null` for entries that are not about a task, run, step or approval. */
function eventOf({ workspaceId, seq, action, subject, verdict, reason, createdAt }: AuditEntry): StreamEvent | null {
  const [event = ''] = action.split('.');
  if (!streamed.has(event)) return null;
  const data: StreamedEvent = { workspaceId, type: action, subject, verdict, reason, at: createdAt };
  return { event, id: String(seq), data };
}
