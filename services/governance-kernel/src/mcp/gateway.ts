import type { EffectLevel } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';
import type { Tool } from '@modelcontextprotocol/client';
import type { Log } from '@countersign/service-kit';
import type { McpRegistry, RegisteredTool, ServerState } from '../registry/mcp-registry.ts';
import type { Listings, Lists, ToolsOf } from './listings.ts';
import type { McpServerConfig } from './server-config.ts';
import { sharedLookups } from './shared-lookups.ts';
import {
  definitionHash,
  parseFunctionName,
  parseToolAddress,
  pinnedDefinition,
  toolAddress,
  type ToolAddress,
} from '../registry/tool-definition.ts';

type McpGatewayParts = {
  configs: readonly McpServerConfig[];
  /** What each server lists. Calling one is not the gateway's to do. */
  servers: ReadonlyMap<string, Lists>;
  registry: Pick<McpRegistry, 'findTool' | 'findServer'>;
  log: Log;
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
  /** By canonical name. A tool that nobody lists resolves too, to facts that deny it. */
  resolve(tool: string): Promise<ResolvedTool>;
  /**
   * By canonical name or by the OpenAI function name that stands for it. Null: no declared server's, so the caller's own. Who
   * resolves many names at once brings listings that servers are not asked for more than once.
   */
  resolveIfDeclared(name: string, listings?: Listings): Promise<ResolvedTool | null>;
  listTools(): Promise<ListedTool[]>;
};

/** The governed server itself: it is approved by being us, and it has no tools of its own. */
const ownServerId = 'countersign';

/** The tools of all MCP servers that the operator declared, with their pins. It knows tools; it neither decides nor calls. */
export function createMcpGateway({ configs, servers, registry, log }: McpGatewayParts): McpGateway {
  const parts: Parts = {
    configs: new Map(configs.map((config) => [config.server_id, config])),
    servers,
    registry: { ...registry, findTool: sharedLookups(registry.findTool) },
    log,
  };
  return {
    resolve: (tool) => resolve(parts, tool),
    resolveIfDeclared: (name, listings) => resolveIfDeclared(parts, name, listings?.of),
    listTools: () => listTools(parts),
  };
}

type Parts = Omit<McpGatewayParts, 'configs'> & { configs: ReadonlyMap<string, McpServerConfig> };

async function resolve(parts: Parts, tool: string, toolsOf: ToolsOf = listNow): Promise<ResolvedTool> {
  const address = parseToolAddress(tool);
  const server = address === null ? undefined : parts.servers.get(address.serverId);
  if (address === null || server === undefined)
    return { tool, effectLevel: 'E4', registry: unlisted(ownServerId, 'approved') };
  try {
    const known = await parts.registry.findTool(address);
    if (known === null) return { tool, effectLevel: 'E4', registry: unavailable('The server is not registered') };
    const effectLevel = effectOf(parts, address, known.tool);
    // A server that is not approved is decided about without asking it anything.
    if (known.state !== 'approved') return { tool, effectLevel, registry: unlisted(address.serverId, known.state) };
    const live = (await toolsOf(server)).find(({ name }) => name === address.toolName);
    return { tool, effectLevel, registry: registryFact(address, live, known.tool) };
  } catch (error) {
    parts.log.warn('mcp_registry.unavailable', { tool, error });
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

async function callableTools(parts: Parts, serverId: string, server: Lists): Promise<ListedTool[]> {
  const known = await parts.registry.findServer(serverId);
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
