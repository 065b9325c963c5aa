import { Server, type Tool } from '@modelcontextprotocol/server';
import { callableTools, type CallableToolsDeps } from './callable-tools.ts';
import type { ActDeps } from './governed-act.ts';
import { performAct } from './perform-act.ts';
import { serveSession } from './serve-session.ts';
import { sessionClient } from './session-client.ts';
import type { McpSessions } from '../mcp-session/mcp-sessions.ts';
import type { ClientSession } from '../mcp-session/session-tokens.ts';
import { serveOperations } from './governed-operations.ts';
import type { ListedTool, McpGateway } from './gateway.ts';
import { operationOf } from './operations.ts';
import { providerName } from './provider-names.ts';
import { searchedFrom, searchTool, searchToolName, searchTools } from './search-tools.ts';
import { mcpServerInfo } from './server-info.ts';
import { toolResult } from './tool-result.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';

/**
 * Clients may cache a list this long, so they may notice a new pin or a revocation that late. The kernel itself
 * enforces the change at once.
 */
const listHint = { ttlMs: 10_000, cacheScope: 'private' } as const;

const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} };
/** The event stream of a session reports changes. */
const sessionCapabilities = {
  ...{ tools: { listChanged: true }, prompts: { listChanged: true }, completions: {}, logging: {} },
  resources: { subscribe: true, listChanged: true },
};

export type GovernedServerDeps = Omit<ActDeps, 'client'> & {
  mcp: Pick<McpGateway, 'listing' | 'offered' | 'watchable'>;
  callable: CallableToolsDeps;
  sessions: McpSessions;
  /** Whether the request belongs to a session, or begins one. */
  hasSession: boolean;
  /** The session of the request. `null` without one, and in protocol version 2026-07-28. */
  session: ClientSession | null;
};

/** The MCP server for one request of one caller, over all approved upstream servers. */
export function governedServer({ sessions, session, hasSession, ...rest }: GovernedServerDeps): Server {
  const { mcp, callable, sender } = rest;
  const server = new Server(mcpServerInfo, {
    capabilities: hasSession ? sessionCapabilities : capabilities,
    instructions:
      'Every call is decided by policy and sealed in a signed receipt. A refusal names its reason and the next step.',
    cacheHints: {
      'tools/list': listHint,
      'prompts/list': listHint,
      'resources/list': listHint,
      'resources/templates/list': listHint,
      'resources/read': { ttlMs: 0, cacheScope: 'private' },
    },
    inputRequired: { legacyShim: false },
  });
  const client =
    session &&
    sessionClient(sessions, session, async (message, relatedRequestId) => {
      await server.transport?.send(message, { relatedRequestId });
    });
  const deps = { ...rest, client };
  const listTools = async () => {
    const { tools, hidden } = await mcp.listing(sender.caller.tenant);
    const { listed, notListed } = await callableTools(callable, sender.caller, tools);
    const total = Object.values(hidden).reduce((sum, count) => sum + count, notListed.total);
    return { published: listed.filter(isTool).map(publishedTool), notListed: { ...notListed, ...hidden, total } };
  };
  server.setRequestHandler('tools/list', async () => {
    const { published, notListed } = await listTools();
    return {
      tools: published.length < searchedFrom ? published : [searchTool, ...published],
      _meta: { 'countersign/not_listed': notListed },
    };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    if (name === searchToolName) return searchTools((await listTools()).published, args);
    const { execution, asks } = await performAct(deps, { tool: name, args }, context);
    return asks ?? toolResult(name, execution);
  });
  serveOperations(server, deps);
  if (session !== null) serveSession(server, { ...deps, sessions, session });
  return server;
}

function isTool({ tool }: ListedTool): boolean {
  return operationOf(parseToolAddress(tool)?.toolName ?? '').kind === 'tool';
}

function publishedTool({ tool, definition, effectLevel }: ListedTool): Tool {
  return { ...definition, name: providerName(tool), _meta: { 'countersign/effect_level': effectLevel } };
}
