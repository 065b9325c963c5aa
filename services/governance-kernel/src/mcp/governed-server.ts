import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  Server,
  type InputRequiredResult,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callableTools, type CallableToolsParts } from './callable-tools.ts';
import { callTool, type Sender } from './call-tool.ts';
import type { ToolExecution, ToolExecutor } from './execute-tool.ts';
import type { ListedTool, McpGateway } from './gateway.ts';
import { decisionMeta, refusalText } from './refusal.ts';
import { relayTo } from './progress.ts';
import { providerName } from './provider-names.ts';
import { mcpServerInfo } from './server-info.ts';
import { toolResult } from './tool-result.ts';

/** A client may keep the list that long: a new pin or a revocation shows after it at the latest, and is enforced at once. */
const listTtlMs = 10_000;

export type GovernedServerParts = {
  mcp: Pick<McpGateway, 'listing'>;
  callable: CallableToolsParts;
  executor: ToolExecutor;
  sender: Sender;
};

/** One MCP server for one request of one caller, over all approved upstream servers. */
export function governedServer({ mcp, callable, executor, sender }: GovernedServerParts): Server {
  const server = new Server(mcpServerInfo, {
    capabilities: { tools: {} },
    instructions:
      'Every call is decided by policy and sealed in a signed receipt. A refusal names its reason and the next step.',
    cacheHints: { 'tools/list': { ttlMs: listTtlMs, cacheScope: 'private' } },
    inputRequired: { legacyShim: false },
  });
  server.setRequestHandler('tools/list', async () => {
    const { tools, hidden } = await mcp.listing(sender.caller.tenant);
    const { listed, notListed } = await callableTools(callable, sender.caller, tools);
    const total = Object.values(hidden).reduce((sum, count) => sum + count, notListed.total);
    return {
      tools: listed.map(publishedTool),
      _meta: { 'countersign/not_listed': { ...notListed, ...hidden, total } },
    };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    const { _meta: meta = {}, signal } = context.mcpReq;
    const onProgress = relayTo(context.mcpReq);
    const execution = await callTool(executor, sender, { name, args, meta, signal, onProgress });
    return askForApproval(name, execution, context) ?? toolResult(name, execution);
  });
  return server;
}

function publishedTool({ tool, definition, effectLevel }: ListedTool): Tool {
  return { ...definition, name: providerName(tool), _meta: { 'countersign/effect_level': effectLevel } };
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
