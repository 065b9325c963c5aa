import { isAppError, toolOfFunctionName, type EffectLevel } from '@countersign/contracts';
import { foldedToolName, type Fact, type RegistryFact } from '@countersign/policy';
import type { Tool } from '@modelcontextprotocol/client';
import type { Log } from '@countersign/service-kit';
import { registeredEffect, type Pinned } from '../registry/declared-effect.ts';
import type { McpRegistry, RegisteredTool, ServerState } from '../registry/mcp-registry.ts';
import { schemaReady } from '../registry/schema-ready.ts';
import type { ToolResolution, ToolResolver } from '../registry/tool-resolver.ts';
import { Listings, type ToolsOf } from './listings.ts';
import { lookAlikesAmong } from './look-alikes.ts';
import { toolOfShortName } from './provider-names.ts';
import type { McpServerConfig } from './server-config.ts';
import type { UpstreamServer } from './upstream-server.ts';
import { sharedLookups } from './shared-lookups.ts';
import {
  definitionHash,
  parseToolAddress,
  pinnedDefinition,
  toolAddress,
  underscoredAddresses,
  type ToolAddress,
} from '../registry/tool-definition.ts';

type McpGatewayParts = {
  configs: readonly McpServerConfig[];
  /** What each server lists. Calling one is not the gateway's to do. */
  servers: ReadonlyMap<string, Lists>;
  registry: Pick<McpRegistry, 'findTool' | 'findServer'>;
  /** How long servers may take to list their tools for one call, or for all calls of one answer. */
  listTimeoutMs: number;
  /** How old what is known of a tool may be before its call is decided. */
  ageMaxMs: number;
  now(): number;
  log: Log;
};

/** A tool that may be called: its server is approved and its live definition is the pinned one. */
export type ListedTool = {
  tool: string;
  serverId: string;
  effectLevel: EffectLevel;
  definition: RegisteredTool['definition'];
  definitionHash: string;
};

export type McpGateway = ToolResolver & {
  listTools(): Promise<ListedTool[]>;
  /** What is declared of a tool here, as `resolve` tells it. */
  effectOf(address: ToolAddress, pinned: Pinned): EffectLevel | null;
};

/** What a server lists. */
type Lists = Pick<UpstreamServer, 'tools' | 'freshTools'>;

/** The tools of all MCP servers that the operator declared, with their pins. It knows tools; it neither decides nor calls. */
export function createMcpGateway({ configs, registry, ...rest }: McpGatewayParts): McpGateway {
  const parts: Parts = {
    ...rest,
    configs: new Map(configs.map((config) => [config.server_id, config])),
    registry: { ...registry, findTool: sharedLookups(registry.findTool, { ...rest, keeps: mayPass }) },
  };
  const inTime = (): ToolsOf => new Listings(rest.listTimeoutMs).of;
  return {
    resolve: (name) => resolveName(parts, name, inTime),
    forOneAnswer: () => {
      const toolsOf = inTime();
      return { resolve: (name) => resolveName(parts, name, () => toolsOf) };
    },
    listTools: () => listTools(parts),
    effectOf: (address, pinned) => effectOf(parts, address, pinned),
  };
}

/** Only a pinned tool of a known server is remembered, of which there are so many and no more. */
function mayPass(found: Awaited<ReturnType<McpRegistry['findTool']>>): boolean {
  return found?.state === 'approved' && found.tool !== null && found.tool.pinnedHash !== null;
}

type Parts = Omit<McpGatewayParts, 'configs'> & { configs: ReadonlyMap<string, McpServerConfig> };

/** Whatever a declared server's id begins is that server's to have: nobody's own function may stand in its name space. */
function resolveName(parts: Parts, name: string, toolsOf: () => ToolsOf): Promise<ToolResolution | null> | null {
  const address = declaredAddress(parts, name);
  if (address !== null) return resolve(parts, address, toolsOf);
  const folded = foldedToolName(name);
  const seen = folded === name ? null : declaredAddress(parts, folded);
  if (seen !== null) return Promise.resolve({ kind: 'look_alike', serverId: seen.serverId });
  const possible = underscoredAddresses(folded).filter(({ serverId }) => parts.servers.has(serverId));
  return possible.length === 0 ? null : resolveUnderscored(parts, { possible, isPlain: folded === name }, toolsOf);
}

/** `files__read`, `mcp__files__read` and the name itself. */
function declaredAddress({ servers }: Parts, name: string): ToolAddress | null {
  const address = parseToolAddress(toolOfFunctionName(name));
  return address !== null && servers.has(address.serverId) ? address : null;
}

/** The one registered tool of these, refused where there are several or the name only looks like it; of none, the name is its caller's own. */
async function resolveUnderscored(
  parts: Parts,
  { possible, isPlain }: { possible: readonly ToolAddress[]; isPlain: boolean },
  toolsOf: () => ToolsOf,
): Promise<ToolResolution | null> {
  const found = await Promise.all(possible.map((address) => parts.registry.findTool(address)));
  const [address, ...others] = possible.filter((_, nth) => (found[nth]?.tool ?? null) !== null);
  if (address === undefined) return null;
  if (others.length > 0 || !isPlain) return { kind: 'look_alike', serverId: address.serverId };
  return await resolve(parts, address, toolsOf);
}

async function resolve(parts: Parts, address: ToolAddress, toolsOf: () => ToolsOf): Promise<ToolResolution> {
  const host = hostOf(parts.configs.get(address.serverId));
  const named = { kind: 'registered', tool: toolAddress(address), host } as const;
  const server = parts.servers.get(address.serverId);
  try {
    const known = await parts.registry.findTool(address);
    if (known === null || server === undefined)
      return { ...named, effectLevel: 'E4', registry: unavailable('The server is not registered') };
    const effectLevel = effectOf(parts, address, known.tool);
    // A server that is not approved is decided about without asking it anything.
    if (known.state !== 'approved') return { ...named, effectLevel, registry: unlisted(address.serverId, known.state) };
    const tools = server.freshTools() ?? (await toolsOf()(server));
    if (lookAlikesAmong(tools).has(address.toolName)) return { kind: 'look_alike', serverId: address.serverId };
    const live = tools.find(({ name }) => name === address.toolName);
    const listedAs = live === undefined && known.tool === null ? toolOfShortName(address, tools) : null;
    if (listedAs !== null) return await resolve(parts, { ...address, toolName: listedAs }, toolsOf);
    if (known.tool !== null && known.tool.pinnedHash !== null) await schemaReady(known.tool.definition.inputSchema);
    return { ...named, effectLevel, registry: registryFact(address, live, known.tool) };
  } catch (error) {
    // Nothing is decided on a database that blinked, so no verdict is sealed under the call's key: its caller may come back.
    if (isAppError(error) && error.code === 'STORE_UNAVAILABLE') throw error;
    parts.log.warn('mcp_registry.unavailable', { tool: named.tool, error });
    const effectLevel = effectOf(parts, address, null);
    return { ...named, effectLevel, registry: unavailable('The registry or the server does not answer') };
  }
}

function hostOf(config: McpServerConfig | undefined): string | null {
  return config?.transport === 'http' ? new URL(config.url).hostname : null;
}

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

/** Null: the operator does not declare the server, or nobody has declared its tool. */
function effectOf({ configs }: Parts, { serverId, toolName }: ToolAddress, pinned: Pinned | null): EffectLevel | null {
  const config = configs.get(serverId);
  return config === undefined ? null : registeredEffect(config, toolName, pinned);
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
  const lookAlikes = lookAlikesAmong(live);
  const callable = live.filter(({ name }) => !lookAlikes.has(name));
  const liveHashes = new Map(callable.map((tool) => [tool.name, definitionHash(tool)]));
  return known.tools
    .filter((tool) => tool.pinnedHash !== null && liveHashes.get(tool.toolName) === tool.pinnedHash)
    .map((tool) => ({
      tool: toolAddress(tool),
      serverId,
      effectLevel: effectOf(parts, tool, tool) ?? 'E4',
      definition: tool.definition,
      definitionHash: tool.pinnedHash ?? tool.currentHash,
    }));
}
