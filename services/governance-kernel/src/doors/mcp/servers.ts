import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, startDeadline, type TenantId } from '@countersign/contracts';
import { lookupPublic } from '@countersign/delivery';
import type { Log } from '@countersign/service-kit';
import { Agent } from 'undici';
import type { McpRegistry, ObservedTool } from '../../registry/mcp-registry.ts';
import { configuredTerms, type McpServerConfig } from './server-config.ts';
import type { CryptoProvider } from '@countersign/crypto';
import { ownerOf, serverKey } from '../../registry/mcp-servers.ts';
import type { EgressOwner } from '../../controls/sandbox/egress-account.ts';
import type { EgressAccount } from '../../controls/sandbox/egress-proxy.ts';
import type { GrantInForce } from '../../controls/sandbox/grant-in-force.ts';
import { grantHash } from '../../controls/sandbox/grant-hash.ts';
import type { SandboxHost } from '../../controls/sandbox/host.ts';
import type { Look, ServerDirectory } from './server-directory.ts';
import { observedTools } from '../../registry/observed-tools.ts';
import { definitionHash } from '../../registry/tool-definition.ts';
import type { StdioAccount } from '../../controls/sandbox/stdio-account.ts';
import { refusalOf, TenantServers, type StoredServer } from './tenant-servers.ts';
import type { ServerSandbox } from '../../controls/sandbox/server-egress.ts';
import type { RefreshTokens } from './upstream-tokens.ts';
import { UpstreamServer } from './upstream-server.ts';

type McpServersOptions = {
  /** The servers that the operator declared. */
  configs: readonly McpServerConfig[];
  registry: Pick<McpRegistry, 'recordTools'>;
  /** Seals the pins of the first list of a declared server. Does nothing for later lists. */
  sealFirstList(listed: { config: McpServerConfig; tools: ObservedTool[] }): Promise<void>;
  /** The current servers of a tenant and of the installation. */
  loadServers(tenant: TenantId): Promise<StoredServer[]>;
  scratchDir: string;
  account: StdioAccount | null;
  host: SandboxHost;
  provider: CryptoProvider;
  refreshTokens: RefreshTokens;
  /** Records and limits the traffic out of a server's sandbox. */
  egressOf(owner: EgressOwner): EgressAccount;
  clock: () => Date;
  callTimeoutMs: number;
  listAgeMaxMs: number;
  outputBytesMax: number;
  /** Whether servers of tenants may have private addresses. */
  reachesPrivate: boolean;
  log: Log;
  now: () => number;
};

/** The owner of the server, and the sandbox grant that is in force for its command. */
export type LookOwner = { tenant: TenantId; sandbox: GrantInForce | null };

/** The connections to all MCP servers of operators and tenants. */
type McpServers = ServerDirectory & {
  /** Connects to every declared server. Slow ones continue in the background. Never rejects because of a server. */
  start(): Promise<void>;
  /** Lists the tools of a server over a temporary connection. Throws AppError UPSTREAM_FAILED. */
  look(config: McpServerConfig, owner: LookOwner): Promise<Look>;
  /** Calls continue. A server that ends from now on is neither reported nor restarted. */
  beginClose(): void;
  close(): Promise<void>;
};

/** How long another replica's view of a server may stay in the registry after this replica has a different view. */
const recordAgeMaxMs = 10_000;
/** A kernel without its tools can still decide, so it waits no longer than this. */
const startWaitMs = 10_000;
/** The longest duration of `look`, since a person waits for it. */
const lookMsMax = 15_000;

export function createMcpServers(options: McpServersOptions): McpServers {
  const { configs } = options;
  const agents = { declared: new Agent(), added: agentForAdded(options) };
  const declared = new Map(
    configs.map((config) => {
      const sandbox = declaredSandbox(options, config);
      const server = upstreamServer({ ...options, agent: agents.declared }, { config, key: config.server_id, sandbox });
      return [
        config.server_id,
        { key: config.server_id, serverId: config.server_id, config, server, notConnected: null },
      ];
    }),
  );
  const tenants = new TenantServers({
    load: options.loadServers,
    connectTo: ({ key, config, sandbox }) =>
      upstreamServer(
        { ...options, agent: agents.added },
        // the key belongs to a tenant, so its owner is a tenant
        { key, config, sandbox: tenantSandbox(options, { tenant: ownerOf(key) as TenantId, sandbox }, config) },
      ),
    ...{ reachesPrivate: options.reachesPrivate, clock: options.clock },
  });
  const connected = () => [...[...declared.values()].map(({ server }) => server), ...tenants.connected()];
  return {
    find: (tenant, serverId) => tenants.find(tenant, serverId) ?? declared.get(serverId) ?? null,
    list: (tenant) => [
      ...[...declared.values()].filter(({ serverId }) => tenants.find(tenant, serverId) === null),
      ...tenants.list(tenant),
    ],
    declared: () => [...declared.values()],
    connected,
    isRead: (tenant) => tenants.isRead(tenant),
    versionOf: (tenant) => tenants.versionOf(tenant),
    reload: (tenant) => tenants.reload(tenant),
    look: (config, owner) => look({ ...options, agent: agents.added }, config, owner),
    start: async () => {
      tellAccount(options);
      const started = Promise.all([...declared.values()].map(({ server }) => server.start()));
      await Promise.race([started, delay(startWaitMs, undefined, { ref: false })]);
    },
    beginClose: () => {
      tenants.beginClose();
      for (const server of connected()) server.beginClose();
    },
    close: async () => {
      tenants.beginClose();
      await Promise.all(connected().map((server) => server.close()));
      await Promise.all([agents.declared.destroy(), agents.added.destroy()]);
      await rm(options.scratchDir, { recursive: true, force: true });
    },
  };
}

/** A name that a tenant chose is resolved once per connection, and all of its addresses must be public. */
function agentForAdded({ reachesPrivate }: Pick<McpServersOptions, 'reachesPrivate'>): Agent {
  return reachesPrivate ? new Agent() : new Agent({ connect: { lookup: lookupPublic } });
}

type Connected = McpServersOptions & { agent: Agent };

/** No tenant has this name. The fences of one tenant must not stop a server that all tenants share. */
const everyTenant = '*' as TenantId; // deliberately not a valid tenant ID

/**
 * Traffic of the installation's servers counts in no budget of a tenant. Destinations, fences and revocations limit it.
 * Refusals are logged, and not sealed.
 */
function declaredSandbox(
  { provider, log, egressOf }: McpServersOptions,
  config: McpServerConfig,
): ServerSandbox | null {
  const terms = configuredTerms(config);
  if (terms === null) return null;
  const refuse = (destination: string, detail: string) => {
    log.warn('sandbox.egress_refused', { server_id: config.server_id, destination, detail });
    return Promise.resolve();
  };
  // Resolved lazily, since the ledger is created after the servers.
  const owner = { tenant: everyTenant, serverId: config.server_id, expiresAtMs: null };
  const isStopped = () => egressOf(owner).isStopped();
  return { terms, hash: grantHash(provider, terms), egress: { take: () => Promise.resolve(true), isStopped, refuse } };
}

function tenantSandbox(
  { egressOf }: McpServersOptions,
  { tenant, sandbox }: LookOwner,
  { server_id: serverId, transport }: McpServerConfig,
): ServerSandbox | null {
  if (transport === 'http' || sandbox === null) return null;
  const { terms, hash, expiresAtMs } = sandbox;
  return { terms, hash, egress: egressOf({ tenant, serverId, expiresAtMs }) };
}

async function look(options: Connected, config: McpServerConfig, owner: LookOwner): Promise<Look> {
  const refusal = refusalOf({ config, sandbox: owner.sandbox }, options);
  if (refusal !== null) throw new AppError('UPSTREAM_FAILED', refusal);
  let problem = 'The MCP server does not answer';
  const quiet = {
    ...options.log,
    warn: (_event: string, fields?: object) => void (problem = problemIn(fields) ?? problem),
  };
  const sandbox = tenantSandbox(options, owner, config);
  const server = new UpstreamServer({
    ...{ ...options, key: serverKey(owner.tenant, config.server_id), sandbox, log: quiet, config },
    onListed: () => Promise.resolve(),
  });
  const ended = startDeadline({ ms: lookMsMax });
  const late = new Promise<never>((_, reject) => {
    ended.signal.addEventListener('abort', () => reject(new Error('late')), { once: true });
  });
  try {
    const tools = await Promise.race([server.tools(), late]);
    return { tools, hidden: [...server.hidden] };
  } catch {
    throw new AppError('UPSTREAM_FAILED', `The tools of the server cannot be listed: ${problem}`);
  } finally {
    ended.clear();
    void server.close();
  }
}

/** The problem that a log entry of a connection states. `null` when it states none. */
function problemIn(fields: object | undefined): string | null {
  return fields !== undefined && 'problem' in fields && typeof fields.problem === 'string' ? fields.problem : null;
}

type Connecting = { config: McpServerConfig; key: string; sandbox: ServerSandbox | null };

function upstreamServer(options: Connected, { config, key, sandbox }: Connecting): UpstreamServer {
  let recorded: { seen: string; atMs: number } | null = null;
  return new UpstreamServer({
    ...options,
    ...{ config, key, sandbox },
    // Unchanged lists are frequent. They are compared with the registry again from time to time. A registry entry of
    // any replica binds all replicas, even after the server has undone the change.
    onListed: async (tools, hidden) => {
      const seen = [
        ...tools.map((tool) => `${tool.name} ${definitionHash(tool)}`),
        ...hidden.map(({ name }) => name),
      ].join('\n');
      const atMs = options.now();
      if (seen === recorded?.seen && atMs - recorded.atMs < recordAgeMaxMs) return;
      const listed = observedTools(tools);
      // Pins are sealed before any decision relies on the list.
      if (ownerOf(key) === '') await options.sealFirstList({ config, tools: listed });
      await options.registry.recordTools(key, listed, hidden);
      recorded = { seen, atMs };
    },
  });
}

/** A server with the kernel's rights can read the kernel's memory and files, so the operator is warned. */
function tellAccount({ configs, account, log }: McpServersOptions): void {
  const servers = configs
    .filter((config) => config.transport === 'stdio' && configuredTerms(config) === null)
    .map(({ server_id: id }) => id);
  if (servers.length === 0) return;
  if (account === null) log.warn('mcp_stdio.runs_as_kernel', { servers });
  else log.info('mcp_stdio.runs_apart', { servers, ...account });
}
