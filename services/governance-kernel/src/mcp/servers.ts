import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, startDeadline, type TenantId } from '@countersign/contracts';
import { lookupPublic } from '@countersign/delivery';
import type { Log } from '@countersign/service-kit';
import { Agent } from 'undici';
import type { McpRegistry } from '../registry/mcp-registry.ts';
import { configuredTerms, describeDeclaration, type McpServerConfig } from './server-config.ts';
import type { CryptoProvider } from '@countersign/crypto';
import { ownerOf, serverKey } from '../registry/mcp-servers.ts';
import type { EgressOwner } from '../sandbox/egress-account.ts';
import type { EgressAccount } from '../sandbox/egress-proxy.ts';
import type { GrantInForce } from '../sandbox/grant-in-force.ts';
import { grantHash } from '../sandbox/grant-hash.ts';
import type { SandboxHost } from '../sandbox/host.ts';
import type { Look, ServerDirectory } from './server-directory.ts';
import { observedTools } from '../registry/observed-tools.ts';
import { definitionHash } from '../registry/tool-definition.ts';
import type { StdioAccount } from '../sandbox/stdio-account.ts';
import { refusalOf, TenantServers, type StoredServer } from './tenant-servers.ts';
import type { ServerSandbox } from '../sandbox/server-egress.ts';
import type { RefreshTokens } from './upstream-tokens.ts';
import { UpstreamServer } from './upstream-server.ts';

type McpServersOptions = {
  /** Declared by the operator. */
  configs: readonly McpServerConfig[];
  registry: Pick<McpRegistry, 'declareServer' | 'recordTools'>;
  /** The servers of a tenant and of the installation, as the registry has them now. */
  loadServers(tenant: TenantId): Promise<StoredServer[]>;
  scratchDir: string;
  account: StdioAccount | null;
  host: SandboxHost;
  provider: CryptoProvider;
  refreshTokens: RefreshTokens;
  /** Traffic of the sandbox of a tenant's server. */
  egressOf(owner: EgressOwner): EgressAccount;
  clock: () => Date;
  callTimeoutMs: number;
  listAgeMaxMs: number;
  outputBytesMax: number;
  /** Servers that tenants added may be at private addresses. */
  reachesPrivate: boolean;
  log: Log;
  now: () => number;
};

/** The connections to all MCP servers that operators declared and tenants added. */
/** The owner of the server, and the grant of a command. */
export type LookOwner = { tenant: TenantId; sandbox: GrantInForce | null };

type McpServers = ServerDirectory & {
  /** Connects to every declared server; one that takes long is waited for in the background. Never rejects because of an upstream. */
  start(): Promise<void>;
  /** Lists the tools of a server over a connection of its own, which ends with it. Throws AppError UPSTREAM_FAILED. */
  look(config: McpServerConfig, owner: LookOwner): Promise<Look>;
  /** Calls go on; a server that ends from now on is neither reported nor started again. */
  beginClose(): void;
  close(): Promise<void>;
};

/** How long what another replica saw of a server may stand in the registry after this one has seen otherwise. */
const recordAgeMaxMs = 10_000;
/** A kernel without its tools can still decide: it does not wait longer than this. */
const startWaitMs = 10_000;
/** An operator waits for it. */
const lookMsMax = 15_000;

export function createMcpServers(options: McpServersOptions): McpServers {
  const { configs, registry } = options;
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
        { key, config, sandbox: tenantSandbox(options, { tenant: ownerOf(key) as TenantId, sandbox }, config) }, // of a tenant
      ),
    ...{ reachesPrivate: options.reachesPrivate, clock: options.clock },
  });
  const connected = () => [...[...declared.values()].map(({ server }) => server), ...tenants.connected()];
  return {
    find: (tenant, serverId) => declared.get(serverId) ?? tenants.find(tenant, serverId),
    list: (tenant) => [...declared.values(), ...tenants.list(tenant).filter(({ serverId }) => !declared.has(serverId))],
    declared: () => [...declared.values()],
    connected,
    isRead: (tenant) => tenants.isRead(tenant),
    versionOf: (tenant) => tenants.versionOf(tenant),
    reload: (tenant) => tenants.reload(tenant),
    look: (config, owner) => look({ ...options, agent: agents.added }, config, owner),
    start: async () => {
      tellAccount(options);
      for (const config of configs) await declare(registry, config);
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

/** A name that a tenant chose is looked up once for each connection, and must lead to public addresses alone. */
function agentForAdded({ reachesPrivate }: Pick<McpServersOptions, 'reachesPrivate'>): Agent {
  return reachesPrivate ? new Agent() : new Agent({ connect: { lookup: lookupPublic } });
}

type Connected = McpServersOptions & { agent: Agent };

/** No tenant has this name: fences around tenants do not stop a server that all of them share. */
const everyTenant = '*' as TenantId; // on purpose outside its schema

/** Traffic of the installation's servers belongs to no tenant: it is held by the destinations alone, and a refusal is logged. */
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
  // Looked up when it is needed: the ledger comes after the servers.
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

/** The problem in a connection's log, for its caller. */
function problemIn(fields: object | undefined): string | null {
  return fields !== undefined && 'problem' in fields && typeof fields.problem === 'string' ? fields.problem : null;
}

type Connecting = { config: McpServerConfig; key: string; sandbox: ServerSandbox | null };

function upstreamServer(options: Connected, { config, key, sandbox }: Connecting): UpstreamServer {
  let recorded: { seen: string; atMs: number } | null = null;
  return new UpstreamServer({
    ...options,
    ...{ config, key, sandbox },
    // A list that is asked for each second is not news. It is held against the registry again now and then, because what any replica
    // wrote there binds all of them, also when its server has taken the change back.
    onListed: async (tools, hidden) => {
      const seen = [
        ...tools.map((tool) => `${tool.name} ${definitionHash(tool)}`),
        ...hidden.map(({ name }) => name),
      ].join('\n');
      const atMs = options.now();
      if (seen === recorded?.seen && atMs - recorded.atMs < recordAgeMaxMs) return;
      await options.registry.recordTools(key, observedTools(tools), hidden);
      recorded = { seen, atMs };
    },
  });
}

/** A server with the kernel's rights can read its memory and its files, so the operator is warned. */
function tellAccount({ configs, account, log }: McpServersOptions): void {
  const servers = configs
    .filter((config) => config.transport === 'stdio' && configuredTerms(config) === null)
    .map(({ server_id: id }) => id);
  if (servers.length === 0) return;
  if (account === null) log.warn('mcp_stdio.runs_as_kernel', { servers });
  else log.info('mcp_stdio.runs_apart', { servers, ...account });
}

async function declare(registry: McpServersOptions['registry'], config: McpServerConfig): Promise<void> {
  await registry.declareServer({
    serverId: config.server_id,
    transport: config.transport,
    config: describeDeclaration(config),
  });
}
