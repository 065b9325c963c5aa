import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@countersign/service-kit';
import type { Tool } from '@modelcontextprotocol/client';
import { Agent } from 'undici';
import type { McpRegistry } from '../registry/mcp-registry.ts';
import { describeDeclaration, type McpServerConfig } from './server-config.ts';
import { annotatedEffect, definitionHash, pinnedDefinition } from '../registry/tool-definition.ts';
import type { StdioAccount } from './stdio-account.ts';
import { UpstreamServer } from './upstream-server.ts';

type McpServersOptions = {
  configs: readonly McpServerConfig[];
  registry: Pick<McpRegistry, 'declareServer' | 'recordTools'>;
  scratchDir: string;
  account: StdioAccount | null;
  callTimeoutMs: number;
  listAgeMaxMs: number;
  outputBytesMax: number;
  log: Log;
  now: () => number;
};

/** The connections to all MCP servers that the operator declared. */
type McpServers = {
  readonly byId: ReadonlyMap<string, UpstreamServer>;
  /** Connects to every server; one that takes long is waited for in the background. Never rejects because of an upstream. */
  start(): Promise<void>;
  /** Calls go on; a server that ends from now on is neither reported nor started again. */
  beginClose(): void;
  close(): Promise<void>;
};

/** How long what another replica saw of a server may stand in the registry after this one has seen otherwise. */
const recordAgeMaxMs = 10_000;
/** A kernel without its tools can still decide: it does not wait longer than this. */
const startWaitMs = 10_000;

export function createMcpServers(options: McpServersOptions): McpServers {
  const { configs, registry } = options;
  const agent = new Agent();
  const byId = new Map(configs.map((config) => [config.server_id, upstreamServer({ ...options, agent }, config)]));
  return {
    byId,
    start: async () => {
      tellAccount(options);
      for (const config of configs) await declare(registry, config);
      const started = Promise.all([...byId.values()].map((server) => server.start()));
      await Promise.race([started, delay(startWaitMs, undefined, { ref: false })]);
    },
    beginClose: () => {
      for (const server of byId.values()) server.beginClose();
    },
    close: async () => {
      await Promise.all([...byId.values()].map((server) => server.close()));
      await agent.destroy();
      await rm(options.scratchDir, { recursive: true, force: true });
    },
  };
}

function upstreamServer(options: McpServersOptions & { agent: Agent }, config: McpServerConfig): UpstreamServer {
  let recorded: { seen: string; atMs: number } | null = null;
  return new UpstreamServer({
    ...options,
    config,
    // A list that is asked for each second is not news. It is held against the registry again now and then, because what any replica
    // wrote there binds all of them, also when its server has taken the change back.
    onListed: async (tools) => {
      const seen = tools.map((tool) => `${tool.name} ${definitionHash(tool)}`).join('\n');
      const atMs = options.now();
      if (seen === recorded?.seen && atMs - recorded.atMs < recordAgeMaxMs) return;
      await recordTools(options.registry, config.server_id, tools);
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

async function recordTools(
  registry: McpServersOptions['registry'],
  serverId: string,
  tools: readonly Tool[],
): Promise<void> {
  const observed = tools.map((tool) => {
    const definition = pinnedDefinition(tool);
    return { name: tool.name, hash: definitionHash(tool), definition, effectLevel: annotatedEffect(definition) };
  });
  await registry.recordTools(serverId, observed);
}
