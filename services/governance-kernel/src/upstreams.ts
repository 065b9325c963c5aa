import type { CryptoProvider } from '@countersign/crypto';
import type { EgressOwner } from './controls/sandbox/egress-account.ts';
import type { EgressAccount } from './controls/sandbox/egress-proxy.ts';
import { SandboxHost } from './controls/sandbox/host.ts';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, Tracer } from '@countersign/service-kit';
import type { Dispatch } from './decision/dispatch.ts';
import { createModelUpstream } from './doors/chat/model-upstream.ts';
import type { KernelConfig } from './kernel-config.ts';
import { createToolExecutor } from './doors/mcp/execute-tool.ts';
import { createMcpGateway } from './doors/mcp/gateway.ts';
import { createMcpServers } from './doors/mcp/servers.ts';
import { createToolUpstream } from './doors/mcp/tool-upstream.ts';
import { tracedTools } from './doors/mcp/traced-tools.ts';
import type { TenantId } from '@countersign/contracts';
import type { ServerDirectory } from './doors/mcp/server-directory.ts';
import type { StoredServer } from './doors/mcp/tenant-servers.ts';
import type { RefreshTokens } from './doors/mcp/upstream-tokens.ts';
import type { McpRegistry } from './registry/mcp-registry.ts';

/** Permits no traffic. Used until the ledger can account for it. */
const closedEgress: EgressAccount = {
  take: () => Promise.resolve(false),
  isStopped: () => Promise.resolve(true),
  refuse: () => Promise.resolve(),
};

type SealFirstList = Parameters<typeof createMcpServers>[0]['sealFirstList'];

type UpstreamsDeps = {
  config: KernelConfig;
  log: Log;
  registry: McpRegistry;
  loadServers(tenant: TenantId): Promise<StoredServer[]>;
  tracer: Tracer | null;
  provider: CryptoProvider;
  clock: () => Date;
  refreshTokens: RefreshTokens;
};

/**
 * The limit of a result. Results are kept in memory and hashed. Larger data belongs in a store, with a link in the
 * result.
 */
const outputBytesMax = 4_194_304;
const now = () => performance.now();

/**
 * The upstreams that the kernel calls on ALLOW: the model server and the MCP servers. Only this file has their
 * unguarded calls, and `behind()` passes them to the dispatch alone. `start()` connects. After `beginClose()` no new
 * connection is made, and `close()` ends what it started.
 */
export function createUpstreams({ config, log, registry, loadServers, tracer, ...rest }: UpstreamsDeps) {
  const { clock, provider, refreshTokens } = rest;
  const { upstream, mcpServers: configs, mcpTimeoutMs } = config;
  const model = upstream.url === null ? null : createModelUpstream({ ...upstream, url: upstream.url });
  const scratchDir = join(tmpdir(), `countersign-mcp-${randomUUID()}`);
  const host = new SandboxHost({ bwrapPath: config.bwrapPath, account: config.sandboxAccount, scratchDir, clock });
  let egress: ((owner: EgressOwner) => EgressAccount) | null = null;
  let sealFirstList: SealFirstList = () => Promise.reject(new Error('The ledger is not open yet'));
  const servers = createMcpServers({
    ...{ host, provider, clock, refreshTokens },
    egressOf: (owner) => egress?.(owner) ?? closedEgress,
    sealFirstList: (listed) => sealFirstList(listed),
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
    /** Lists and resolves tools, and calls none. */
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
    /** Lists model names without a model call, so there is nothing to decide. */
    modelList: model === null ? null : model.listModels,
    behind: (dispatch: Dispatch) => ({
      models: model === null ? null : dispatch.to(model.send),
      executor: createToolExecutor(dispatch.to(tools)),
    }),
    /** The sandbox for programs that the kernel starts. */
    sandboxHost: host,
    /** Sets how network traffic is accounted for. Until this call, sandboxes have no network access. */
    accountForEgress: (account: (owner: EgressOwner) => EgressAccount) => void (egress = account),
    /** Sets how the first list of a declared server is pinned. Until this call, no such list is used. */
    sealFirstListsWith: (seal: SealFirstList) => void (sealFirstList = seal),
    start: () => servers.start(),
    beginClose: () => servers.beginClose(),
    close: async () => {
      await servers.close();
      await model?.close();
    },
  };
}
