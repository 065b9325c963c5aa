import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '@countersign/service-kit';
import type { Dispatch } from './boundary/dispatch.ts';
import { createModelUpstream } from './chat/model-upstream.ts';
import type { KernelConfig } from './config.ts';
import { createToolExecutor } from './mcp/execute-tool.ts';
import { createMcpGateway } from './mcp/gateway.ts';
import { createOriginGuard } from './mcp/guard-origin.ts';
import { createMcpServers } from './mcp/servers.ts';
import { createToolUpstream } from './mcp/tool-upstream.ts';
import type { AnswerStore } from './store/idempotency-store.ts';
import type { McpRegistry } from './registry/mcp-registry.ts';

type UpstreamsParts = {
  config: KernelConfig;
  dispatch: Dispatch;
  log: Log;
  registry: McpRegistry;
  answers: AnswerStore;
};

/** Results are held in memory and hashed: larger ones belong into a store, with a link to them. */
const outputBytesMax = 8_388_608;

/**
 * What the kernel calls on ALLOW: the model server and the MCP servers. Nothing but this file holds their bare calls, and it hands
 * them to the dispatch alone. `start()` connects; `close()` ends what it started.
 */
export function createUpstreams({ config, dispatch, log, registry, answers }: UpstreamsParts) {
  const model =
    config.upstream.url === null
      ? null
      : createModelUpstream({
          url: config.upstream.url,
          apiKey: config.upstream.apiKey,
          timeoutMs: config.upstream.timeoutMs,
        });
  const configs = config.mcpServers;
  const servers = createMcpServers({
    configs,
    registry,
    scratchDir: join(tmpdir(), `countersign-mcp-${randomUUID()}`),
    callTimeoutMs: config.mcpTimeoutMs,
    listAgeMaxMs: config.mcpListAgeMaxMs,
    outputBytesMax,
    log,
    now: () => performance.now(),
  });
  const mcp = createMcpGateway({ configs, servers: servers.byId, registry, log });
  const tools = dispatch.to(createToolUpstream({ servers: servers.byId, outputBytesMax }));
  return {
    models: model === null ? null : dispatch.to(model.send),
    mcp,
    answers,
    prices: config.modelPrices,
    executor: createToolExecutor({ mcp, tools }),
    guardOrigin: createOriginGuard({ hosts: config.allowedHosts, origins: config.allowedOrigins }),
    callTimeoutMs: config.mcpTimeoutMs,
    start: () => servers.start(),
    close: async () => {
      await servers.close();
      await model?.close();
    },
  };
}
