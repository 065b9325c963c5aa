import { createLifecycle, openTelemetry, serveHttp, type HttpApp, type Lifecycle } from '@countersign/service-kit';
import { createApp, createHealthApp, type Running } from './app.ts';
import { build } from './build.ts';
import type { GatewayConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { startApprovalListener } from './workers/approval-listener.ts';
import { startCourier } from './workers/courier.ts';
import { startIncidentListener } from './workers/incident-listener.ts';
import { startOrchestrator } from './workers/orchestrator.ts';
import { startReceiptReview } from './workers/receipt-review.ts';
import { startSettingsCourier } from './workers/settings-courier.ts';

export type StartedGateway = {
  readonly url: string;
  /** Null: no port of its own is configured for health and metrics. */
  readonly healthUrl: string | null;
  readonly context: Context;
  /** Settles when runs, and what the kernel says of approvals, are being taken from their queues. */
  readonly subscribed: Promise<void>;
  /** Not ready first, then no new requests, then no more work; runs go back to the queue. Safe to call twice. */
  stop(): Promise<boolean>;
};

export type StartOptions = ContextOverrides & { lifecycle?: Lifecycle };

/** Of a gateway that leaves all runs to others. */
const noWorkers = { check: async () => 'none' };

/** Starts the service in this process. The schema must have been migrated. */
export async function startGateway(config: GatewayConfig, options: StartOptions = {}): Promise<StartedGateway> {
  const telemetry = await openTelemetry(config.collector, { service: 'gateway', version: build.version });
  const context = createContext(config, telemetry, options);
  const lifecycle = options.lifecycle ?? createLifecycle(context.log);
  lifecycle.onClose('context', context.close);
  // In one process with the control plane, that is closed before the gateway is.
  lifecycle.beforeClose(() => void context.sessionWatch?.stop());
  lifecycle.giveNotice(config.stopNoticeMs);
  context.relay.start();
  const orchestrator = config.runs.workers === 0 ? null : startOrchestrator(context);
  const subscribed: Promise<unknown>[] = [];
  if (orchestrator !== null) {
    lifecycle.onClose('orchestrator', orchestrator.stop);
    subscribed.push(orchestrator.subscribed, startApprovalListener(context).subscribed);
    subscribed.push(startIncidentListener(context).subscribed);
    if (context.kernel !== null) {
      lifecycle.onClose('settings', startSettingsCourier(context).close);
      lifecycle.onClose('receipts', startReceiptReview(context).close);
    }
  }
  lifecycle.onClose('courier', startCourier(context).stop);
  const running = { lifecycle, workers: orchestrator ?? noWorkers };
  const healthUrl = await serveHealth(context, running);
  const app = createApp(context, running);
  const server = await serveHttp(app, { host: config.host, port: config.port });
  lifecycle.onClose('http', server.close);
  await serveBrowsers(app, config, lifecycle);
  return {
    url: server.url,
    healthUrl,
    context,
    subscribed: Promise.all(subscribed).then(() => undefined),
    stop: () => lifecycle.stop(),
  };
}

async function serveBrowsers(
  app: HttpApp,
  { host, consolePort: port }: GatewayConfig,
  lifecycle: Lifecycle,
): Promise<void> {
  if (port === null) return;
  const server = await serveHttp(app, { host, port });
  lifecycle.onClose('console', server.close);
}

async function serveHealth(context: Context, running: Running & { lifecycle: Lifecycle }): Promise<string | null> {
  const { host, healthPort: port } = context.config;
  if (port === null) return null;
  const server = await serveHttp(createHealthApp(context, running), { host, port });
  running.lifecycle.onClose('health', server.close);
  return server.url;
}
