import type { ServerResponse } from 'node:http';
import { SessionId } from '@countersign/contracts';
import { runAgentUi, runAgUi } from '@countersign/contracts/governance-kernel';
import { takenOver, type StoredAnswer } from '@countersign/service-kit';
import { ownError } from '../../doors/agent-ui/own-error.ts';
import { runAgent, type RunDeps } from '../../doors/agent-ui/run-agent.ts';
import type { ErrorBody } from '../../doors/chat/upstream-error.ts';
import { handleTenant } from '../../handle.ts';
import { approvalGrantHeader, defaultSession, sessionHeader } from '../../doors/mcp/call-settings.ts';

type Named = { config: { agentUiModel: string | null } };
type RunRouteDeps = Omit<RunDeps, 'agentUiModel'> & Named;

/** Serves runs at both addresses. */
const runRoute =
  (route: typeof runAgentUi) =>
  ({ config: { agentUiModel }, ...kernel }: RunRouteDeps) =>
    handleTenant(route)(async (request): Promise<typeof takenOver> => {
      const { body: input, caller, req, res, signal, traceparent, log, requestId } = request;
      const session = sessionHeader(req.headers) ?? threadSession(input.threadId) ?? defaultSession(caller);
      const approvalGrant = approvalGrantHeader(req.headers);
      const run = { input, caller, session, approvalGrant, signal, traceparent, log, requestId };
      const refused = await runAgent({ ...kernel, agentUiModel }, run, res);
      if (refused !== null) sendRefusal(res, refused);
      return takenOver;
    });

export const runAgentUiRoute = runRoute(runAgentUi);
export const runAgUiRoute = runRoute(runAgUi);

/** The thread names the session when no header does, so an approval is valid in later runs of the same thread. */
function threadSession(threadId: string): SessionId | null {
  const parsed = SessionId.safeParse(threadId);
  return parsed.success ? parsed.data : null;
}

/**
 * The answer of a model server without a stream, in our error form. The status is kept, since clients decide by it
 * when to retry.
 */
function sendRefusal(res: ServerResponse, { status, text, headers }: StoredAnswer): void {
  const answer = JSON.stringify({ error: ownError(JSON.parse(text) as ErrorBody) }); // `chat` wrote it
  const length = String(Buffer.byteLength(answer));
  res.writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': length });
  res.end(answer);
}
