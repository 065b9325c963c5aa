import type { IncomingMessage, ServerResponse } from 'node:http';
import { callMcp } from '@countersign/contracts/governance-kernel';
import { jsonRpcError, takenOver } from '@countersign/service-kit';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { approvalGrantHeader, sessionHeader } from '../../doors/mcp/call-settings.ts';
import { governedServer, type GovernedServerDeps } from '../../doors/mcp/governed-server.ts';
import { InputStates } from '../../doors/mcp/input-states.ts';
import { readableCall } from '../../doors/mcp/readable-call.ts';
import { answerPlainCall, plainCallOf } from '../../doors/mcp/plain-call.ts';
import { approvalWaits, waitingExecutor } from '../../doors/mcp/approval-waits.ts';
import { responseIn } from '../../doors/mcp-session/answer.ts';
import { initializeIn, sessionOf } from '../../doors/mcp-session/requested-session.ts';
import { getApproval } from '../../store/approval-store.ts';

type CallMcpDeps = Pick<GovernedServerDeps, 'mcp' | 'executor'> &
  Pick<Context, 'reader' | 'clock' | 'argsCipher' | 'config' | 'mcpSessions' | 'callableTools'>;

/**
 * The governed MCP server for both protocol versions, without a table of sessions. A plain call and a response of a
 * client are handled here. Every other message gets an SDK server of its own, for its caller alone.
 */
export const callMcpRoute = ({
  mcp,
  executor,
  argsCipher,
  config,
  mcpSessions,
  callableTools: callable,
  ...context
}: CallMcpDeps) => {
  const inputStates = new InputStates(argsCipher, () => context.clock().getTime());
  const waits = approvalWaits({
    findState: async (approval) => (await getApproval(context.reader, approval)).state,
    waitMs: config.mcpApprovalWaitMs,
  });
  const waiting = waitingExecutor(executor, waits);
  const deps = {
    mcp,
    callable,
    executor,
    sessions: mcpSessions,
    waitingExecutor: waiting,
    approvalWaits: waits,
    inputStates,
  };
  return handleTenant(callMcp, { renderError: jsonRpcError })(
    async ({ body, caller, req, res, signal, traceparent, log }) => {
      const named = { session: sessionHeader(req.headers), approvalGrant: approvalGrantHeader(req.headers) };
      const { message, ...malformed } = readableCall(body);
      const sender = { caller, ...named, traceparent, log, ...malformed };
      const initialize = initializeIn(message);
      const session = initialize === null ? sessionOf(mcpSessions.tokens, caller, req.headers) : null;
      const response = responseIn(message);
      if (session !== null && response !== null) {
        await mcpSessions.questions.answer(session, response);
        res.writeHead(202).end();
        return takenOver;
      }
      if (initialize !== null) res.setHeader('mcp-session-id', mcpSessions.tokens.issue(caller, initialize));
      const call = plainCallOf(req.headers, message);
      const hasSession = session !== null || initialize !== null;
      if (call === null) await serve({ ...deps, sender, session, hasSession }, { req, res, body: message });
      else sendText(res, await answerPlainCall(waiting, sender, { call, signal }));
      return takenOver;
    },
  );
};

type Message = { req: IncomingMessage; res: ServerResponse; body: unknown };

async function serve(deps: GovernedServerDeps, { req, res, body }: Message): Promise<void> {
  const onerror = (error: Error) => deps.sender.log.debug('mcp.refused', { error });
  const handler = createMcpHandler(() => governedServer(deps), { onerror, maxRequestBodySize: callMcp.bodyBytesMax });
  // The body was parsed strictly. If it had two members of one name, the SDK would use the last, while other readers
  // might use the first.
  await toNodeHandler(handler, { onerror })(req, res, body);
}

/** Sends nothing if the caller has disconnected. */
function sendText(res: ServerResponse, { status, text }: { status: number; text: string }): void {
  if (res.destroyed) return;
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) });
  res.end(text);
}
