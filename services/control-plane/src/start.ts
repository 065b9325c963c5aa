import { createLifecycle, openTelemetry, serveHttp, type Lifecycle } from '@countersign/service-kit';
import { createApp, createHealthApp } from './app.ts';
import { build } from './build.ts';
import type { ControlPlaneConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { startSweeper } from './workers/sweeper.ts';

export type StartedControlPlane = {
  readonly url: string;
  /** Null: no port of its own is configured for health and metrics. */
  readonly healthUrl: string | null;
  readonly context: Context;
  /** Not ready first, then no new requests. Safe to call twice. */
  stop(): Promise<boolean>;
};

type StartOptions = ContextOverrides & { lifecycle?: Lifecycle };

/** Starts the service in this process. The schema must have been migrated. */
export async function startControlPlane(
  config: ControlPlaneConfig,
  options: StartOptions = {},
): Promise<StartedControlPlane> {
  const telemetry = await openTelemetry(config.collector, { service: 'control-plane', version: build.version });
  const context = createContext(config, telemetry, options);
  const lifecycle = options.lifecycle ?? createLifecycle(context.log);
  lifecycle.onClose('context', context.close);
  lifecycle.giveNotice(config.stopNoticeMs);
  context.relay.start();
  lifecycle.onClose('sweeper', startSweeper(context).stop);
  const healthUrl = await serveHealth(context, lifecycle);
  const server = await serveHttp(createApp(context, { lifecycle }), { host: config.host, port: config.port });
  lifecycle.onClose('http', server.close);
  return { url: server.url, healthUrl, context, stop: () => lifecycle.stop() };
}

async function serveHealth(context: Context, lifecycle: Lifecycle): Promise<string | null> {
  const { host, healthPort: port } = context.config;
  if (port === null) return null;
  const server = await serveHttp(createHealthApp(context, { lifecycle }), { host, port });
  lifecycle.onClose('health', server.close);
  return server.url;
}
