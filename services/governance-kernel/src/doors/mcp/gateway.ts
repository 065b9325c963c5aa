import { isAppError, toolOfFunctionName, type EffectLevel, type TenantId } from '@countersign/contracts';
import { foldedToolName, type Fact, type RegistryFact } from '@countersign/policy';
import type { Tool } from '@modelcontextprotocol/client';
import type { Log } from '@countersign/service-kit';
import { registeredEffect, type Pinned } from '../../registry/declared-effect.ts';
import type { McpRegistry, RegisteredTool, ServerState } from '../../registry/mcp-registry.ts';
import { schemaReady } from '../../registry/schema-ready.ts';
import type { ToolResolution, ToolResolver } from '../../registry/tool-resolver.ts';
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
} from '../../registry/tool-definition.ts';

type McpGatewayDeps = {
  /** The servers of tenants and of the installation. The gateway reads their lists and calls no tool. */
  servers: ServerDirectory;
  registry: Pick<McpRegistry, 'findTool' | 'findServer'>;
  /** The time limit for servers to list their tools, for one call or for all calls of one answer. */
  listTimeoutMs: number;
  /** The maximum age of the known state of a tool when its call is decided. */
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

/** The reason why a tool of a server is not listed to any caller. */
type HiddenCause = 'malformed' | 'look_alike' | 'drift' | 'unpinned' | 'server';

type Listing = { tools: ListedTool[]; hidden: Record<HiddenCause, number> };

export type WatchableServer = Pick<NonNullable<LocatedServer['server']>, 'watch'>;

export type McpGateway = ToolResolver & {
  /** The tools that this tenant may call, and how many other tools of its servers are hidden, by cause. */
  listing(tenant: TenantId): Promise<Listing>;
  listTools(tenant: TenantId): Promise<ListedTool[]>;
  /** The resources that this server of the tenant offers. `null` when the server is unknown or does not answer. */
  offered(tenant: TenantId, serverId: string): Promise<Offered | null>;
  /** The connection to a server whose resources can be watched. `null` when there is none. */
  watchable(tenant: TenantId, serverId: string): WatchableServer | null;
  /** Makes every connected server list its tools now. A server that does not answer delays no other. */
  askConnected(): Promise<void>;
  /** The declared effect of a tool of this tenant, as `resolve` returns it. */
  effectOf(tenant: TenantId, address: ToolAddress, pinned: Pinned): EffectLevel | null;
};

/** The tools of all MCP servers of tenants and of the installation, with their pins. It neither decides nor calls. */
export function createMcpGateway({ registry, ...rest }: McpGatewayDeps): McpGateway {
  const lookups = () => sharedLookups(registry.findTool, { ...rest, keeps: mayPass });
  const shared = { findTool: lookups() };
  const findTool: McpRegistry['findTool'] = (address) => shared.findTool(address);
  const readState = async (key: string) => (await registry.findServer(key))?.state ?? null;
  const deps: Deps = { ...rest, readState, registry: { ...registry, findTool } };
  const inTime = (): ToolsOf => new Listings(rest.listTimeoutMs).of;
  const listing = async (tenant: TenantId) => {
    await rest.servers.reload(tenant);
    return await listTools(deps, tenant);
  };
  return {
    resolve: (name, tenant) => resolveName(forTenant(deps, tenant), name, inTime),
    forOneAnswer: () => {
      const toolsOf = inTime();
      return { resolve: (name, tenant) => resolveName(forTenant(deps, tenant), name, () => toolsOf) };
    },
    versionOf: (tenant) => rest.servers.versionOf(tenant),
    firstRead: (tenant) => (rest.servers.isRead(tenant) ? null : rest.servers.reload(tenant)),
    reload: async (tenant) => {
      shared.findTool = lookups(); // earlier lookups may be outdated
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
    watchable: (tenant, serverId) => {
      const server = rest.servers.find(tenant, serverId)?.server ?? null;
      return server?.reportsChanges === true ? server : null;
    },
    effectOf: (tenant, address, pinned) => effectOf(forTenant(deps, tenant), address, pinned),
  };
}

/** Only a pinned tool of an approved server is cached, which limits the size of the cache. */
function mayPass(found: Awaited<ReturnType<McpRegistry['findTool']>>): boolean {
  return found?.state === 'approved' && found.tool !== null && found.tool.pinnedHash !== null;
}

type Deps = McpGatewayDeps & { readState(key: string): Promise<ServerState | null> };
/** The dependencies, with the servers that one tenant sees. */
type TenantDeps = Omit<Deps, 'servers'> & { find(serverId: string): LocatedServer | null };

function forTenant(deps: Deps, tenant: TenantId): TenantDeps {
  const { servers, registry, listTimeoutMs, ageMaxMs, now, log, readState } = deps;
  return { registry, listTimeoutMs, ageMaxMs, now, log, readState, find: (serverId) => servers.find(tenant, serverId) };
}

/**
 * A name that begins with a declared server's id belongs to that server, so no other function may use its namespace.
 */
function resolveName(deps: TenantDeps, name: string, toolsOf: () => ToolsOf): Promise<ToolResolution | null> | null {
  const address = declaredAddress(deps, name);
  if (address !== null) return resolve(deps, address, toolsOf);
  const folded = foldedToolName(name);
  const seen = folded === name ? null : declaredAddress(deps, folded);
  if (seen !== null) return Promise.resolve({ kind: 'look_alike', serverId: seen.serverId });
  const possible = underscoredAddresses(folded).filter(({ serverId }) => deps.find(serverId) !== null);
  return possible.length === 0 ? null : resolveUnderscored(deps, { possible, isPlain: folded === name }, toolsOf);
}

/**
 * The address `files.read` for each of `files__read`, `mcp__files__read` and `files.read`. `null` unless `files` is a
 * known server.
 */
function declaredAddress({ find }: TenantDeps, name: string): ToolAddress | null {
  const address = parseToolAddress(toolOfFunctionName(name));
  return address !== null && find(address.serverId) !== null ? address : null;
}

/**
 * The one registered tool that matches. Refused when several match or the name only looks similar. `null` without a
 * match: the tool then belongs to its caller.
 */
async function resolveUnderscored(
  deps: TenantDeps,
  { possible, isPlain }: { possible: readonly ToolAddress[]; isPlain: boolean },
  toolsOf: () => ToolsOf,
): Promise<ToolResolution | null> {
  const found = await Promise.all(possible.map((address) => findTool(deps, address)));
  const [address, ...others] = possible.filter((_, nth) => (found[nth]?.tool ?? null) !== null);
  if (address === undefined) return null;
  if (others.length > 0 || !isPlain) return { kind: 'look_alike', serverId: address.serverId };
  return await resolve(deps, address, toolsOf);
}

function findTool({ registry, find }: TenantDeps, { serverId, toolName }: ToolAddress) {
  return registry.findTool({ serverId: find(serverId)?.key ?? serverId, toolName });
}

async function resolve(deps: TenantDeps, address: ToolAddress, toolsOf: () => ToolsOf): Promise<ToolResolution> {
  const located = deps.find(address.serverId);
  const named = {
    kind: 'registered',
    tool: toolAddress(address),
    host: hostOf(located),
    serverKey: located?.key ?? address.serverId,
  } as const;
  try {
    const existing = await findTool(deps, address);
    if (existing === null || located === null)
      return { ...named, effectLevel: 'E4', registry: unavailable('The server is not registered') };
    const effectLevel = effectOf(deps, address, existing.tool);
    // A call to a server that is not approved is decided without a request to it.
    if (existing.state !== 'approved')
      return { ...named, effectLevel, registry: unlisted(address.serverId, existing.state) };
    const { server } = located;
    if (server === null) {
      // The approval may have ended since the tool was cached, and with the approval the connection to the server.
      const state = (await deps.readState(named.serverKey)) ?? 'revoked';
      const gone = unavailable(located.notConnected ?? 'The server is not connected');
      return { ...named, effectLevel, registry: state === 'approved' ? gone : unlisted(address.serverId, state) };
    }
    const tools = server.freshTools() ?? (await toolsOf()(server));
    if (lookAlikesAmong(tools).has(address.toolName)) return { kind: 'look_alike', serverId: address.serverId };
    const live = tools.find(({ name }) => name === address.toolName);
    const listedAs = live === undefined && existing.tool === null ? toolOfShortName(address, tools) : null;
    if (listedAs !== null) return await resolve(deps, { ...address, toolName: listedAs }, toolsOf);
    if (existing.tool !== null && existing.tool.pinnedHash !== null)
      await schemaReady(existing.tool.definition.inputSchema);
    return { ...named, effectLevel, registry: registryFact(address, live, existing.tool) };
  } catch (error) {
    // No decision is made during a database outage, so no verdict is sealed under the call's key, and its caller may
    // retry.
    if (isAppError(error) && error.code === 'STORE_UNAVAILABLE') throw error;
    deps.log.warn('mcp_registry.unavailable', { tool: named.tool, error });
    const effectLevel = effectOf(deps, address, null);
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

/** `null` when the configuration of the server is unknown, or when no effect of the tool is declared. */
function effectOf(
  { find }: TenantDeps,
  { serverId, toolName }: ToolAddress,
  pinned: Pinned | null,
): EffectLevel | null {
  const config = find(serverId)?.config ?? null;
  return config === null ? null : registeredEffect(config, toolName, pinned);
}

async function listTools(deps: Deps, tenant: TenantId): Promise<Listing> {
  const lists = await Promise.all(
    deps.servers.list(tenant).map((located) => callableTools(forTenant(deps, tenant), located)),
  );
  const hidden = { malformed: 0, look_alike: 0, drift: 0, unpinned: 0, server: 0 };
  for (const { hidden: ofServer } of lists) for (const cause of ofServer) hidden[cause] += 1;
  const tools = lists.flatMap((list) => list.tools).sort((left, right) => (left.tool < right.tool ? -1 : 1));
  return { tools, hidden };
}

type ServerListing = { tools: ListedTool[]; hidden: HiddenCause[] };

async function callableTools(deps: TenantDeps, { key, serverId, server }: LocatedServer): Promise<ServerListing> {
  const existing = await deps.registry.findServer(key);
  if (existing === null) return { tools: [], hidden: [] };
  const live = existing.state !== 'approved' || server === null ? null : await server.tools().catch(() => null);
  if (live === null)
    return { tools: [], hidden: existing.tools.filter(({ isGone }) => !isGone).map(() => 'server' as const) };
  const lookAlikes = lookAlikesAmong(live);
  const pinned = new Map(existing.tools.map((tool) => [tool.toolName, tool]));
  const listed: ServerListing = { tools: [], hidden: (server?.hidden ?? []).map(() => 'malformed' as const) };
  for (const tool of live) {
    const registered = pinned.get(tool.name);
    const pin = registered?.pinnedHash ?? null;
    if (lookAlikes.has(tool.name)) listed.hidden.push('look_alike');
    else if (registered === undefined || pin === null) listed.hidden.push('unpinned');
    else if (pin !== definitionHash(tool)) listed.hidden.push('drift');
    else {
      const address = { serverId, toolName: tool.name };
      const effectLevel = effectOf(deps, address, registered) ?? 'E4';
      const { definition } = registered;
      listed.tools.push({ tool: toolAddress(address), serverId, effectLevel, definition, definitionHash: pin });
    }
  }
  return listed;
}
