import { createLifecycle, openTelemetry, serveHttp, type Lifecycle } from '@countersign/service-kit';
import { createApp, createHealthApp } from './app.ts';
import { build } from './build.ts';
import type { ControlPlaneConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { startConfirmer } from './workers/confirmer.ts';
import { startGlassListener } from './workers/glass-listener.ts';
import { startHintListener } from './workers/hint-listener.ts';
import { startReporter } from './workers/reporter.ts';
import { startCourier } from './workers/courier.ts';
import { startPlacer } from './workers/placer.ts';
import { startShadower } from './workers/shadower.ts';
import { startSweeper } from './workers/sweeper.ts';
import { startWatcher } from './workers/watcher.ts';

export type StartedControlPlane = {
  readonly url: string;
  /** Null: no port of its own is configured for health and metrics. */
  readonly healthUrl: string | null;
  readonly context: Context;
  /** Settles when what changes elsewhere is being taken from its queue. */
  readonly subscribed: Promise<void>;
  /** Not ready first, then no new requests. Safe to call twice. */
  stop(): Promise<boolean>;
};

type StartOptions = ContextOverrides & {
  lifecycle?: Lifecycle;
  /** Between two passes of what watches and confirms; by default each has its own pace. */
  passMs?: number;
};

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
  lifecycle.onClose('reporter', startReporter(context).stop);
  lifecycle.onClose('confirmer', startConfirmer(context, options.passMs).stop);
  lifecycle.onClose('shadower', startShadower(context).stop);
  lifecycle.onClose('courier', startCourier(context).stop);
  lifecycle.onClose('placer', startPlacer(context).stop);
  lifecycle.onClose('watcher', startWatcher(context, options.passMs).stop);
  const listeners = [startHintListener(context), startGlassListener(context)];
  const subscribed = Promise.all(listeners.map((listener) => listener.subscribed)).then(() => undefined);
  const healthUrl = await serveHealth(context, lifecycle);
  const server = await serveHttp(createApp(context, { lifecycle }), { host: config.host, port: config.port });
  lifecycle.onClose('http', server.close);
  return { url: server.url, healthUrl, context, subscribed, stop: () => lifecycle.stop() };
}

async function serveHealth(context: Context, lifecycle: Lifecycle): Promise<string | null> {
  const { host, healthPort: port } = context.config;
  if (port === null) return null;
  const server = await serveHttp(createHealthApp(context, { lifecycle }), { host, port });
  lifecycle.onClose('health', server.close);
  return server.url;
}
