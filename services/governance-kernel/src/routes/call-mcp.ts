import type { IncomingMessage, ServerResponse } from 'node:http';
import { callMcp } from '@countersign/contracts/governance-kernel';
import { jsonRpcError, takenOver } from '@countersign/service-kit';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Caller } from '../call/governed-call.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { approvalGrantHeader, sessionHeader } from '../mcp/call-settings.ts';
import { governedServer, type GovernedServerParts } from '../mcp/governed-server.ts';
import { InputStates } from '../mcp/input-states.ts';
import { readableCall } from '../mcp/readable-call.ts';
import { answerPlainCall, plainCallOf } from '../mcp/plain-call.ts';
import { waitingExecutor } from '../mcp/approval-waits.ts';
import { getApproval } from '../store/approval-store.ts';
import { findActiveHash } from '../store/policy-store.ts';
import { findToolStops } from '../store/tool-stops.ts';

type CallMcpParts = Pick<GovernedServerParts, 'mcp' | 'executor'> &
  Pick<Context, 'reader' | 'policies' | 'clock' | 'argsCipher' | 'config'>;

/**
 * The governed MCP server of both protocol revisions, stateless. A plain call is answered here; everything else has an SDK server of
 * its own, for its caller alone.
 */
export const callMcpRoute = ({ mcp, executor, argsCipher, config, ...context }: CallMcpParts) => {
  const inputStates = new InputStates(argsCipher, () => context.clock().getTime());
  const callable = callableParts(context);
  const waiting = waitingExecutor(executor, {
    findState: async (approval) => (await getApproval(context.reader, approval)).state,
    waitMs: config.mcpApprovalWaitMs,
  });
  const parts = { mcp, callable, executor, waitingExecutor: waiting, inputStates };
  return handleTenant(callMcp, { renderError: jsonRpcError })(
    async ({ body, caller, req, res, signal, traceparent, log }) => {
      const session = sessionHeader(req.headers);
      const approvalGrant = approvalGrantHeader(req.headers);
      const { message, ...malformed } = readableCall(body);
      const sender = { caller, session, approvalGrant, traceparent, log, ...malformed };
      const call = plainCallOf(req.headers, message);
      if (call === null) await serve({ ...parts, sender }, { req, res, body: message });
      else sendText(res, await answerPlainCall(waiting, sender, { call, signal }));
      return takenOver;
    },
  );
};

function callableParts({ reader, policies, clock }: Pick<Context, 'reader' | 'policies' | 'clock'>) {
  return {
    findStops: (caller: Caller, tools: readonly string[]) => findToolStops(reader, caller, tools),
    activePolicy: async ({ tenant }: Caller) => {
      // Decisions learn of another policy as they are made; a list that is read has to look.
      if ((await findActiveHash(reader, tenant)) !== (policies.current(tenant)?.hash ?? null))
        await policies.reload(tenant);
      return policies.current(tenant);
    },
    now: () => clock().getTime(),
  };
}

type Message = { req: IncomingMessage; res: ServerResponse; body: unknown };

async function serve(parts: GovernedServerParts, { req, res, body }: Message): Promise<void> {
  const onerror = (error: Error) => parts.sender.log.debug('mcp.refused', { error });
  const handler = createMcpHandler(() => governedServer(parts), { onerror, maxRequestBodySize: callMcp.bodyBytesMax });
  // Parsed here, strictly: the SDK would take the last of two members of one name, where an earlier reader took the
  // first.
  await toNodeHandler(handler, { onerror })(req, res, body);
}

/** A caller that went away reads nothing any more. */
function sendText(res: ServerResponse, { status, text }: { status: number; text: string }): void {
  if (res.destroyed) return;
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) });
  res.end(text);
}
