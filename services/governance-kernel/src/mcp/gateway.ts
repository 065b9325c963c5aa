import { isAppError, toolOfFunctionName, type EffectLevel, type TenantId } from '@countersign/contracts';
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
import type { LocatedServer, ServerDirectory } from './server-directory.ts';
import type { Offered } from './offered-resources.ts';
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
  /** The servers of tenants and of the installation. Calling one is not the gateway's to do. */
  servers: ServerDirectory;
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

/** Why a tool of a server is not listed to anyone. */
type HiddenCause = 'malformed' | 'look_alike' | 'drift' | 'unpinned' | 'server';

type Listing = { tools: ListedTool[]; hidden: Record<HiddenCause, number> };

export type McpGateway = ToolResolver & {
  /** The tools that this tenant may call, and how many others its servers have. */
  listing(tenant: TenantId): Promise<Listing>;
  listTools(tenant: TenantId): Promise<ListedTool[]>;
  /** The resources that this server of the tenant offers. `null` when it does not answer. */
  offered(tenant: TenantId, serverId: string): Promise<Offered | null>;
  /** Has every server that this kernel is connected to list its tools now. One that does not answer holds up none of the others. */
  askConnected(): Promise<void>;
  /** The declared effect of a tool of this tenant, as `resolve` returns it. */
  effectOf(tenant: TenantId, address: ToolAddress, pinned: Pinned): EffectLevel | null;
};

/** The tools of all MCP servers of tenants and of the installation, with their pins. It knows tools; it neither decides nor calls. */
export function createMcpGateway({ registry, ...rest }: McpGatewayParts): McpGateway {
  const lookups = () => sharedLookups(registry.findTool, { ...rest, keeps: mayPass });
  const shared = { findTool: lookups() };
  const findTool: McpRegistry['findTool'] = (address) => shared.findTool(address);
  const parts: Parts = { ...rest, registry: { ...registry, findTool } };
  const inTime = (): ToolsOf => new Listings(rest.listTimeoutMs).of;
  const listing = async (tenant: TenantId) => {
    await rest.servers.reload(tenant);
    return await listTools(parts, tenant);
  };
  return {
    resolve: (name, tenant) => resolveName(forTenant(parts, tenant), name, inTime),
    forOneAnswer: () => {
      const toolsOf = inTime();
      return { resolve: (name, tenant) => resolveName(forTenant(parts, tenant), name, () => toolsOf) };
    },
    versionOf: (tenant) => rest.servers.versionOf(tenant),
    firstRead: (tenant) => (rest.servers.isRead(tenant) ? null : rest.servers.reload(tenant)),
    reload: async (tenant) => {
      shared.findTool = lookups(); // what they remember was read before
      await rest.servers.reload(tenant);
    },
    listing,
    askConnected: async () => {
      const toolsOf = inTime();
      const connected = rest.servers.connected().filter(({ isConnected }) => isConnected);
      await Promise.allSettled(connected.map((server) => toolsOf(server)));
    },
    listTools: async (tenant) => (await listing(tenant)).tools,
    offered: async (tenant, serverId) =>
      (await rest.servers
        .find(tenant, serverId)
        ?.server?.offered()
        .catch(() => null)) ?? null,
    effectOf: (tenant, address, pinned) => effectOf(forTenant(parts, tenant), address, pinned),
  };
}

/** Only a pinned tool of a known server is remembered, of which there are so many and no more. */
function mayPass(found: Awaited<ReturnType<McpRegistry['findTool']>>): boolean {
  return found?.state === 'approved' && found.tool !== null && found.tool.pinnedHash !== null;
}

type Parts = McpGatewayParts;
/** The same, as one tenant sees the servers. */
type TenantParts = Omit<Parts, 'servers'> & { find(serverId: string): LocatedServer | null };

function forTenant({ servers, ...rest }: Parts, tenant: TenantId): TenantParts {
  return { ...rest, find: (serverId) => servers.find(tenant, serverId) };
}

/**
 * Every name that begins with a declared server's id belongs to that server: no other function may be in its namespace.
 */
function resolveName(parts: TenantParts, name: string, toolsOf: () => ToolsOf): Promise<ToolResolution | null> | null {
  const address = declaredAddress(parts, name);
  if (address !== null) return resolve(parts, address, toolsOf);
  const folded = foldedToolName(name);
  const seen = folded === name ? null : declaredAddress(parts, folded);
  if (seen !== null) return Promise.resolve({ kind: 'look_alike', serverId: seen.serverId });
  const possible = underscoredAddresses(folded).filter(({ serverId }) => parts.find(serverId) !== null);
  return possible.length === 0 ? null : resolveUnderscored(parts, { possible, isPlain: folded === name }, toolsOf);
}

/** `files__read`, `mcp__files__read` and the name itself. */
function declaredAddress({ find }: TenantParts, name: string): ToolAddress | null {
  const address = parseToolAddress(toolOfFunctionName(name));
  return address !== null && find(address.serverId) !== null ? address : null;
}

/** The one registered tool of these, refused where there are several or the name only looks like it; of none, the name is its caller's own. */
async function resolveUnderscored(
  parts: TenantParts,
  { possible, isPlain }: { possible: readonly ToolAddress[]; isPlain: boolean },
  toolsOf: () => ToolsOf,
): Promise<ToolResolution | null> {
  const found = await Promise.all(possible.map((address) => findTool(parts, address)));
  const [address, ...others] = possible.filter((_, nth) => (found[nth]?.tool ?? null) !== null);
  if (address === undefined) return null;
  if (others.length > 0 || !isPlain) return { kind: 'look_alike', serverId: address.serverId };
  return await resolve(parts, address, toolsOf);
}

function findTool({ registry, find }: TenantParts, { serverId, toolName }: ToolAddress) {
  return registry.findTool({ serverId: find(serverId)?.key ?? serverId, toolName });
}

async function resolve(parts: TenantParts, address: ToolAddress, toolsOf: () => ToolsOf): Promise<ToolResolution> {
  const located = parts.find(address.serverId);
  const named = {
    kind: 'registered',
    tool: toolAddress(address),
    host: hostOf(located),
    serverKey: located?.key ?? address.serverId,
  } as const;
  try {
    const known = await findTool(parts, address);
    if (known === null || located === null)
      return { ...named, effectLevel: 'E4', registry: unavailable('The server is not registered') };
    const effectLevel = effectOf(parts, address, known.tool);
    // A server that is not approved is decided about without asking it anything.
    if (known.state !== 'approved') return { ...named, effectLevel, registry: unlisted(address.serverId, known.state) };
    const { server } = located;
    if (server === null)
      return { ...named, effectLevel, registry: unavailable(located.notConnected ?? 'The server is not connected') };
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

function hostOf(located: LocatedServer | null): string | null {
  return located?.config?.transport === 'http' ? new URL(located.config.url).hostname : null;
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

/** `null` when the operator does not declare the server, or its tool is undeclared. */
function effectOf(
  { find }: TenantParts,
  { serverId, toolName }: ToolAddress,
  pinned: Pinned | null,
): EffectLevel | null {
  const config = find(serverId)?.config ?? null;
  return config === null ? null : registeredEffect(config, toolName, pinned);
}

async function listTools(parts: Parts, tenant: TenantId): Promise<Listing> {
  const lists = await Promise.all(
    parts.servers.list(tenant).map((located) => callableTools(forTenant(parts, tenant), located)),
  );
  const hidden = { malformed: 0, look_alike: 0, drift: 0, unpinned: 0, server: 0 };
  for (const { hidden: ofServer } of lists) for (const cause of ofServer) hidden[cause] += 1;
  const tools = lists.flatMap((list) => list.tools).sort((left, right) => (left.tool < right.tool ? -1 : 1));
  return { tools, hidden };
}

type ServerListing = { tools: ListedTool[]; hidden: HiddenCause[] };

async function callableTools(parts: TenantParts, { key, serverId, server }: LocatedServer): Promise<ServerListing> {
  const known = await parts.registry.findServer(key);
  if (known === null) return { tools: [], hidden: [] };
  const live = known.state !== 'approved' || server === null ? null : await server.tools().catch(() => null);
  if (live === null)
    return { tools: [], hidden: known.tools.filter(({ isGone }) => !isGone).map(() => 'server' as const) };
  const lookAlikes = lookAlikesAmong(live);
  const pinned = new Map(known.tools.map((tool) => [tool.toolName, tool]));
  const listed: ServerListing = { tools: [], hidden: (server?.hidden ?? []).map(() => 'malformed' as const) };
  for (const tool of live) {
    const registered = pinned.get(tool.name);
    const pin = registered?.pinnedHash ?? null;
    if (lookAlikes.has(tool.name)) listed.hidden.push('look_alike');
    else if (registered === undefined || pin === null) listed.hidden.push('unpinned');
    else if (pin !== definitionHash(tool)) listed.hidden.push('drift');
    else {
      const address = { serverId, toolName: tool.name };
      const effectLevel = effectOf(parts, address, registered) ?? 'E4';
      const { definition } = registered;
      listed.tools.push({ tool: toolAddress(address), serverId, effectLevel, definition, definitionHash: pin });
    }
  }
  return listed;
}
