import { ApprovalId, isAppError, SessionId, ToolName, type PlainJson } from '@countersign/contracts';
import { parsePlainJson } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../boundary/governed-call.ts';
import { defaultSession, parseGiven, parseNamed } from './call-settings.ts';
import type { ToolExecution, ToolExecutor } from './execute-tool.ts';
import type { ListedTool, McpGateway } from './gateway.ts';
import { decisionMeta, refusalText } from './refusal.ts';
import { toolResult } from './tool-result.ts';

export const mcpServerInfo = { name: 'countersign', version: '0.1.0' } as const;
/** Newest first. Older revisions of the 2025 era are negotiated down to by their clients. */
export const mcpProtocolVersions = ['2026-07-28', '2025-11-25'] as const;

/** A client may keep the list that long: a new pin or a revocation shows after it at the latest, and is enforced at once. */
const listTtlMs = 10_000;

export type GovernedServerParts = {
  mcp: Pick<McpGateway, 'listTools'>;
  executor: ToolExecutor;
  caller: Caller;
  /** From X-Gov-Session-ID. */
  session: SessionId | null;
  /** From X-Gov-Approval-Grant. */
  approvalGrant: ApprovalId | null;
  log: Log;
};

/** One MCP server for one request of one caller, over all approved upstream servers. */
export function governedServer(parts: GovernedServerParts): Server {
  const server = new Server(mcpServerInfo, {
    capabilities: { tools: {} },
    instructions:
      'Every call is decided by policy and sealed in a signed receipt. A refusal names its reason and the next step.',
    cacheHints: { 'tools/list': { ttlMs: listTtlMs, cacheScope: 'private' } },
    inputRequired: { legacyShim: false },
  });
  server.setRequestHandler('tools/list', async () => ({ tools: (await parts.mcp.listTools()).map(publishedTool) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    return await callTool(parts, { name: params.name, args: params.arguments ?? {} }, context).catch(protocolError);
  });
  return server;
}

export function publishedTool({ tool, definition, effectLevel }: ListedTool): Tool {
  return { ...definition, name: tool, _meta: { 'countersign/effect_level': effectLevel } };
}

type Requested = { name: string; args: Record<string, unknown> };

async function callTool(
  parts: GovernedServerParts,
  { name, args }: Requested,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { caller, executor, log } = parts;
  const tool = parseGiven(ToolName, 'params.name', name);
  const meta = context.mcpReq._meta ?? {};
  const session =
    parseNamed(SessionId, '_meta.countersign/session_id', meta['countersign/session_id']) ?? parts.session;
  const approvalGrant =
    parseNamed(ApprovalId, '_meta.countersign/approval_grant', meta['countersign/approval_grant']) ??
    parts.approvalGrant;
  const request = {
    caller,
    session: session ?? defaultSession('mcp', caller),
    tool,
    args: parsePlainJson(args) as Record<string, PlainJson>, // the protocol admits objects only
    context: {},
    approvalGrant: approvalGrant ?? undefined,
  };
  const execution = await executor.execute(request, context.mcpReq.signal, log);
  return askForApproval(tool, execution, context) ?? toolResult(tool, execution);
}

/**
 * ESCALATE for a client that can open a URL. A retry that brings an answer and finds the approval still pending gets the result
 * instead: a client that says "accepted" at once would otherwise go round in circles.
 */
function askForApproval(
  tool: string,
  { decision }: ToolExecution,
  { mcpReq }: ServerContext,
): InputRequiredResult | null {
  const { approval } = decision.reply;
  if (decision.reply.verdict !== 'ESCALATE' || approval === undefined) return null;
  if (!OpensUrls.safeParse(mcpReq.envelope).success || mcpReq.inputResponses !== undefined) return null;
  const elicitation = inputRequired.elicitUrl({
    message: refusalText(tool, decision.reply),
    url: approval.approve_url,
  });
  return { ...inputRequired({ inputRequests: { approval: elicitation } }), _meta: decisionMeta(decision.reply) };
}

/** Envelope of a client that declared elicitation in URL mode. The 2025 era has no envelope. */
const OpensUrls = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({ elicitation: z.looseObject({ url: z.looseObject({}) }) }),
});

/** Our own errors in JSON-RPC: what the caller did wrong is told, everything else is not. */
function protocolError(error: unknown): never {
  if (error instanceof ProtocolError) throw error;
  const isCallers = isAppError(error) && error.status < 500;
  if (isCallers) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { code: error.code });
  if (isAppError(error)) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message, { code: error.code });
  throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
}
