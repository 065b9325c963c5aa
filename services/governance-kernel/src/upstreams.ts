import type { CryptoProvider } from '@countersign/crypto';
import type { EgressOwner } from './sandbox/egress-account.ts';
import type { EgressAccount } from './sandbox/egress-proxy.ts';
import { SandboxHost } from './sandbox/host.ts';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, Tracer } from '@countersign/service-kit';
import type { Dispatch } from './boundary/dispatch.ts';
import { createModelUpstream } from './chat/model-upstream.ts';
import type { KernelConfig } from './kernel-config.ts';
import { createToolExecutor } from './mcp/execute-tool.ts';
import { createMcpGateway } from './mcp/gateway.ts';
import { createMcpServers } from './mcp/servers.ts';
import { createToolUpstream } from './mcp/tool-upstream.ts';
import { tracedTools } from './mcp/traced-tools.ts';
import type { TenantId } from '@countersign/contracts';
import type { ServerDirectory } from './mcp/server-directory.ts';
import type { StoredServer } from './mcp/tenant-servers.ts';
import type { RefreshTokens } from './mcp/upstream-tokens.ts';
import type { McpRegistry } from './registry/mcp-registry.ts';

/** The ledger does not answer yet. */
const closedEgress: EgressAccount = {
  take: () => Promise.resolve(false),
  isStopped: () => Promise.resolve(true),
  refuse: () => Promise.resolve(),
};

type UpstreamsParts = {
  config: KernelConfig;
  log: Log;
  registry: McpRegistry;
  loadServers(tenant: TenantId): Promise<StoredServer[]>;
  tracer: Tracer | null;
  provider: CryptoProvider;
  clock: () => Date;
  refreshTokens: RefreshTokens;
};

/** Results are held in memory and hashed: larger ones belong into a store, with a link to them. */
const outputBytesMax = 4_194_304;
const now = () => performance.now();

/**
 * The upstreams that the kernel calls on ALLOW: the model server and the MCP servers. Nothing but this file holds their
 * bare calls, and `behind()` hands them to the dispatch alone. `start()` connects; after `beginClose()` no new
 * connection is made, and `close()` ends what it started.
 */
export function createUpstreams({ config, log, registry, loadServers, tracer, ...rest }: UpstreamsParts) {
  const { clock, provider, refreshTokens } = rest;
  const { upstream, mcpServers: configs, mcpTimeoutMs } = config;
  const model = upstream.url === null ? null : createModelUpstream({ ...upstream, url: upstream.url });
  const scratchDir = join(tmpdir(), `countersign-mcp-${randomUUID()}`);
  const host = new SandboxHost({ bwrapPath: config.bwrapPath, account: config.sandboxAccount, scratchDir, clock });
  let egress: ((owner: EgressOwner) => EgressAccount) | null = null;
  const servers = createMcpServers({
    ...{ host, provider, clock, refreshTokens },
    egressOf: (owner) => egress?.(owner) ?? closedEgress,
    configs,
    registry,
    loadServers,
    reachesPrivate: config.mcpReachesPrivate,
    scratchDir,
    account: config.stdioAccount,
    callTimeoutMs: mcpTimeoutMs,
    listAgeMaxMs: config.mcpListAgeMaxMs,
    outputBytesMax,
    log,
    now,
  });
  const tools = tracedTools(tracer, createToolUpstream({ servers, outputBytesMax }));
  return {
    /** Knows tools, and calls none. */
    mcp: createMcpGateway({
      ...{ servers, registry, log, now },
      listTimeoutMs: mcpTimeoutMs,
      ageMaxMs: config.mcpListAgeMaxMs,
    }),
    /** Lists the tools of servers, and calls none. */
    forDesk: {
      servers: servers as ServerDirectory,
      lookAt: servers.look,
      recordTools: registry.recordTools,
      loadServers,
    },
    /** Asks for names, and for no answer of a model: nothing to decide about. */
    modelList: model === null ? null : model.listModels,
    behind: (dispatch: Dispatch) => ({
      models: model === null ? null : dispatch.to(model.send),
      executor: createToolExecutor(dispatch.to(tools)),
    }),
    /** The sandbox for programs that the kernel starts. */
    sandboxHost: host,
    /** Sandboxes reach nothing before it. */
    accountForEgress: (account: (owner: EgressOwner) => EgressAccount) => void (egress = account),
    start: () => servers.start(),
    beginClose: () => servers.beginClose(),
    close: async () => {
      await servers.close();
      await model?.close();
    },
  };
}
