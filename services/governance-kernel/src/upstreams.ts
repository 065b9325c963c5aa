import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '@countersign/service-kit';
import type { Boundary } from './boundary/governed-call.ts';
import { createModelUpstream } from './chat/model-upstream.ts';
import { readModelPrices } from './chat/prices.ts';
import type { KernelConfig } from './config.ts';
import { createDispatcher } from './mcp/dispatch.ts';
import { createToolExecutor } from './mcp/execute-tool.ts';
import { createMcpGateway } from './mcp/gateway.ts';
import { createOriginGuard } from './mcp/guard-origin.ts';
import { readMcpServers } from './mcp/server-config.ts';
import type { AnswerStore } from './store/idempotency-store.ts';
import type { McpRegistry } from './store/mcp-registry.ts';

export type UpstreamsParts = {
  config: KernelConfig;
  boundary: Boundary;
  log: Log;
  registry: McpRegistry;
  answers: AnswerStore;
};

/** Results are held in memory and hashed: larger ones belong into a store, with a link to them. */
const outputBytesMax = 8_388_608;
/** What the kernel calls on ALLOW: the model server and the MCP servers. `mcp.start()` connects; `close()` ends what it started. */
export function createUpstreams({ config, boundary, log, registry, answers }: UpstreamsParts) {
  const upstream = createModelUpstream({
    url: config.GOV_UPSTREAM_URL ?? null,
    apiKey: config.GOV_UPSTREAM_API_KEY ?? null,
    timeoutMs: config.GOV_UPSTREAM_TIMEOUT,
  });
  const mcp = createMcpGateway({
    servers: config.GOV_MCP_SERVERS === undefined ? [] : readMcpServers(config.GOV_MCP_SERVERS),
    registry,
    scratchDir: join(tmpdir(), `countersign-mcp-${randomUUID()}`),
    callTimeoutMs: config.GOV_MCP_TIMEOUT,
    listAgeMaxMs: config.GOV_MCP_LIST_MAX_AGE,
    outputBytesMax,
    log,
    now: () => performance.now(),
  });
  const dispatcher = createDispatcher({ boundary, mcp, outputBytesMax });
  return {
    upstream,
    mcp,
    answers,
    prices: readModelPrices(config.GOV_MODEL_PRICES),
    executor: createToolExecutor({ boundary, mcp, dispatcher }),
    guardOrigin: createOriginGuard({ hosts: config.GOV_ALLOWED_HOSTS, origins: config.GOV_ALLOWED_ORIGINS }),
    callTimeoutMs: config.GOV_MCP_TIMEOUT,
    close: async () => {
      await mcp.close();
      await upstream.close();
    },
  };
}
