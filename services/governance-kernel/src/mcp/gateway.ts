import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { EffectLevel } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';
import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import type { Log } from '@countersign/service-kit';
import type { McpRegistry, RegisteredTool, ServerState } from '../store/mcp-registry.ts';
import type { Listings, ToolsOf } from './listings.ts';
import { describeDeclaration, type McpServerConfig } from './server-config.ts';
import {
  annotatedEffect,
  definitionHash,
  parseFunctionName,
  parseToolAddress,
  pinnedDefinition,
  toolAddress,
  type ToolAddress,
} from './tool-definition.ts';
import { UpstreamServer } from './upstream-server.ts';

export type McpGatewayOptions = {
  servers: readonly McpServerConfig[];
  registry: McpRegistry;
  scratchDir: string;
  callTimeoutMs: number;
  listAgeMaxMs: number;
  outputBytesMax: number;
  log: Log;
  now: () => number;
};

/** What a decision must know about one tool. */
export type ResolvedTool = { tool: string; effectLevel: EffectLevel; registry: Fact<RegistryFact> };

/** A tool that may be called: its server is approved and its live definition is the pinned one. */
export type ListedTool = {
  tool: string;
  serverId: string;
  effectLevel: EffectLevel;
  definition: RegisteredTool['definition'];
  definitionHash: string;
};

export type McpGateway = {
  /** Connects to every declared server; one that takes long is waited for in the background. Never rejects because of an upstream. */
  start(): Promise<void>;
  /** By canonical name. A tool that nobody lists resolves too, to facts that deny it. */
  resolve(tool: string): Promise<ResolvedTool>;
  /**
   * By canonical name or by the OpenAI function name that stands for it. Null: no declared server's, so the caller's own. Who
   * resolves many names at once brings listings that servers are not asked for more than once.
   */
  resolveIfDeclared(name: string, listings?: Listings): Promise<ResolvedTool | null>;
  listTools(): Promise<ListedTool[]>;
  /** The bare call. Only dispatch.ts holds it. */
  callUpstream(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  readonly callTimeoutMs: number;
  close(): Promise<void>;
};

/** A kernel without its tools can still decide: it does not wait longer than this. */
const startWaitMs = 10_000;

/** The governed server itself: it is approved by being us, and it has no tools of its own. */
const ownServerId = 'countersign';

/** All upstream MCP servers that the operator declared, with their pins. It knows tools and calls them; it decides nothing. */
export function createMcpGateway(options: McpGatewayOptions): McpGateway {
  const configs = new Map(options.servers.map((config) => [config.server_id, config]));
  const servers = new Map(options.servers.map((config) => [config.server_id, upstreamServer(options, config)]));
  const parts: Parts = { options, configs, servers };
  return {
    start: async () => {
      for (const config of options.servers) await declare(options.registry, config);
      const started = Promise.all([...servers.values()].map((server) => server.start()));
      await Promise.race([started, delay(startWaitMs, undefined, { ref: false })]);
    },
    resolve: (tool) => resolve(parts, tool),
    resolveIfDeclared: (name, listings) => resolveIfDeclared(parts, name, listings?.of),
    listTools: () => listTools(parts),
    callUpstream: async (tool, args, signal) => {
      const address = parseToolAddress(tool);
      const server = address === null ? undefined : servers.get(address.serverId);
      if (address === null || server === undefined) throw new Error('No server has this tool');
      return await server.call(address.toolName, args, signal);
    },
    callTimeoutMs: options.callTimeoutMs,
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()));
      await rm(options.scratchDir, { recursive: true, force: true });
    },
  };
}

type Parts = {
  options: McpGatewayOptions;
  configs: ReadonlyMap<string, McpServerConfig>;
  servers: ReadonlyMap<string, UpstreamServer>;
};

function upstreamServer(options: McpGatewayOptions, config: McpServerConfig): UpstreamServer {
  const record = (tools: readonly Tool[]) => recordTools(options.registry, config.server_id, tools);
  let recorded = '';
  return new UpstreamServer({
    ...options,
    config,
    // The definitions are written when they differ from what was written last: a list that is asked for each second is not news.
    onListed: async (tools) => {
      const seen = tools.map((tool) => `${tool.name} ${definitionHash(tool)}`).join('\n');
      if (seen === recorded) return;
      await record(tools);
      recorded = seen;
    },
  });
}

async function declare(registry: McpRegistry, config: McpServerConfig): Promise<void> {
  await registry.declareServer({
    serverId: config.server_id,
    transport: config.transport,
    config: describeDeclaration(config),
  });
}

async function recordTools(registry: McpRegistry, serverId: string, tools: readonly Tool[]): Promise<void> {
  const observed = tools.map((tool) => {
    const definition = pinnedDefinition(tool);
    return { name: tool.name, hash: definitionHash(tool), definition, effectLevel: annotatedEffect(definition) };
  });
  await registry.recordTools(serverId, observed);
}

async function resolve(parts: Parts, tool: string, toolsOf: ToolsOf = listNow): Promise<ResolvedTool> {
  const address = parseToolAddress(tool);
  const server = address === null ? undefined : parts.servers.get(address.serverId);
  if (address === null || server === undefined)
    return { tool, effectLevel: 'E4', registry: unlisted(ownServerId, 'approved') };
  try {
    const known = await parts.options.registry.findTool(address);
    if (known === null) return { tool, effectLevel: 'E4', registry: unavailable('The server is not registered') };
    const effectLevel = effectOf(parts, address, known.tool);
    // A server that is not approved is decided about without asking it anything.
    if (known.state !== 'approved') return { tool, effectLevel, registry: unlisted(address.serverId, known.state) };
    const live = (await toolsOf(server)).find(({ name }) => name === address.toolName);
    return { tool, effectLevel, registry: registryFact(address, live, known.tool) };
  } catch (error) {
    parts.options.log.warn('mcp_registry.unavailable', { tool, error });
    return {
      tool,
      effectLevel: effectOf(parts, address, null),
      registry: unavailable('The registry or the server does not answer'),
    };
  }
}

const listNow: ToolsOf = (server) => server.tools();

function registryFact(address: ToolAddress, live: Tool | undefined, pinned: RegisteredTool | null): Fact<RegistryFact> {
  if (live === undefined) return unlisted(address.serverId, 'approved');
  const definition = pinned?.definition ?? pinnedDefinition(live);
  return {
    state: 'known',
    value: {
      server_id: address.serverId,
      state: 'approved',
      tool: {
        pinned_hash: pinned?.pinnedHash ?? null,
        current_hash: definitionHash(live),
        input_schema: definition.inputSchema,
      },
    },
  };
}

function unlisted(serverId: string, state: ServerState): Fact<RegistryFact> {
  return { state: 'known', value: { server_id: serverId, state, tool: null } };
}

function unavailable(detail: string): Fact<RegistryFact> {
  return { state: 'unavailable', detail };
}

/** The operator's word, else the annotations of the pin. A definition without a pin has nothing to say about its own effect. */
function effectOf(
  { configs }: Parts,
  { serverId, toolName }: ToolAddress,
  registered: RegisteredTool | null,
): EffectLevel {
  const overrides = configs.get(serverId)?.tools ?? {};
  const declared = Object.hasOwn(overrides, toolName) ? overrides[toolName]?.effect_level : undefined;
  if (declared !== undefined) return declared;
  return registered === null || registered.pinnedHash === null ? 'E4' : registered.effectLevel;
}

async function resolveIfDeclared(parts: Parts, name: string, toolsOf?: ToolsOf): Promise<ResolvedTool | null> {
  const canonical = parseToolAddress(name);
  if (canonical !== null && parts.servers.has(canonical.serverId)) return await resolve(parts, name, toolsOf);
  const address = parseFunctionName(name);
  if (address === null || !parts.servers.has(address.serverId)) return null;
  const resolved = await resolve(parts, toolAddress(address), toolsOf);
  // An approved server that lists no such tool: the function is somebody else's and keeps its own name.
  const { registry } = resolved;
  return registry.state === 'known' && registry.value.state === 'approved' && registry.value.tool === null
    ? null
    : resolved;
}

async function listTools(parts: Parts): Promise<ListedTool[]> {
  const lists = await Promise.all(
    [...parts.servers].map(([serverId, server]) => callableTools(parts, serverId, server)),
  );
  return lists.flat().sort((left, right) => (left.tool < right.tool ? -1 : 1));
}

async function callableTools(parts: Parts, serverId: string, server: UpstreamServer): Promise<ListedTool[]> {
  const known = await parts.options.registry.findServer(serverId);
  if (known?.state !== 'approved') return [];
  const live = await server.tools().catch(() => []);
  const liveHashes = new Map(live.map((tool) => [tool.name, definitionHash(tool)]));
  return known.tools
    .filter((tool) => tool.pinnedHash !== null && liveHashes.get(tool.toolName) === tool.pinnedHash)
    .map((tool) => ({
      tool: toolAddress(tool),
      serverId,
      effectLevel: effectOf(parts, tool, tool),
      definition: tool.definition,
      definitionHash: tool.pinnedHash ?? tool.currentHash,
    }));
}
