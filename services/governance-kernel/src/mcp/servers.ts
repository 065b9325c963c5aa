import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, startDeadline, type TenantId } from '@countersign/contracts';
import { lookupPublic } from '@countersign/delivery';
import type { Log } from '@countersign/service-kit';
import { Agent } from 'undici';
import type { McpRegistry } from '../registry/mcp-registry.ts';
import { describeDeclaration, type McpServerConfig } from './server-config.ts';
import type { Look, ServerDirectory } from './server-directory.ts';
import { observedTools } from '../registry/observed-tools.ts';
import { definitionHash } from '../registry/tool-definition.ts';
import type { StdioAccount } from './stdio-account.ts';
import { refusalOf, TenantServers, type StoredServer } from './tenant-servers.ts';
import { UpstreamServer } from './upstream-server.ts';

type McpServersOptions = {
  /** Declared by the operator. */
  configs: readonly McpServerConfig[];
  registry: Pick<McpRegistry, 'declareServer' | 'recordTools'>;
  /** The servers of a tenant and of the installation, as the registry has them now. */
  loadServers(tenant: TenantId): Promise<StoredServer[]>;
  scratchDir: string;
  account: StdioAccount | null;
  callTimeoutMs: number;
  listAgeMaxMs: number;
  outputBytesMax: number;
  /** Servers that tenants added may be at private addresses. */
  reachesPrivate: boolean;
  log: Log;
  now: () => number;
};

/** The connections to all MCP servers that operators declared and tenants added. */
type McpServers = ServerDirectory & {
  /** Connects to every declared server; one that takes long is waited for in the background. Never rejects because of an upstream. */
  start(): Promise<void>;
  /** Lists the tools of a server over a connection of its own, which ends with it. Throws AppError UPSTREAM_FAILED. */
  look(config: McpServerConfig): Promise<Look>;
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
      const server = upstreamServer({ ...options, agent: agents.declared }, { config, key: config.server_id });
      return [
        config.server_id,
        { key: config.server_id, serverId: config.server_id, config, server, notConnected: null },
      ];
    }),
  );
  const tenants = new TenantServers({
    load: options.loadServers,
    connectTo: (located) => upstreamServer({ ...options, agent: agents.added }, located),
    reachesPrivate: options.reachesPrivate,
  });
  const connected = () => [...[...declared.values()].map(({ server }) => server), ...tenants.connected()];
  return {
    find: (tenant, serverId) => declared.get(serverId) ?? tenants.find(tenant, serverId),
    list: (tenant) => [...declared.values(), ...tenants.list(tenant).filter(({ serverId }) => !declared.has(serverId))],
    declared: () => [...declared.values()],
    isRead: (tenant) => tenants.isRead(tenant),
    versionOf: (tenant) => tenants.versionOf(tenant),
    reload: (tenant) => tenants.reload(tenant),
    look: (config) => look({ ...options, agent: agents.added }, config),
    start: async () => {
      tellAccount(options);
      for (const config of configs) await declare(registry, config);
      const started = Promise.all([...declared.values()].map(({ server }) => server.start()));
      await Promise.race([started, delay(startWaitMs, undefined, { ref: false })]);
    },
    beginClose: () => {
      for (const server of connected()) server.beginClose();
    },
    close: async () => {
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

async function look(options: Connected, config: McpServerConfig): Promise<Look> {
  const refusal = refusalOf(config, options);
  if (refusal !== null) throw new AppError('UPSTREAM_FAILED', refusal);
  let problem = 'The MCP server does not answer';
  const quiet = {
    ...options.log,
    warn: (_event: string, fields?: object) => void (problem = problemIn(fields) ?? problem),
  };
  const server = new UpstreamServer({ ...options, log: quiet, config, onListed: () => Promise.resolve() });
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

/** What the connection was told to log, for the one who asked for it. */
function problemIn(fields: object | undefined): string | null {
  return fields !== undefined && 'problem' in fields && typeof fields.problem === 'string' ? fields.problem : null;
}

function upstreamServer(options: Connected, { config, key }: { config: McpServerConfig; key: string }): UpstreamServer {
  let recorded: { seen: string; atMs: number } | null = null;
  return new UpstreamServer({
    ...options,
    config,
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

/** With the kernel's rights a server can read its memory and its files: whoever runs it so has to know. */
function tellAccount({ configs, account, log }: McpServersOptions): void {
  const servers = configs.filter(({ transport }) => transport === 'stdio').map(({ server_id: id }) => id);
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
