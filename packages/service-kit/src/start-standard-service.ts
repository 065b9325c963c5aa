import { build } from './build.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { ListenConfig } from './listen-variables.ts';
import { createLogger } from './logger.ts';
import { runService } from './run-service.ts';
import { serveHttp } from './serve-http.ts';
import { createHealthApp, createServiceApp, type AppContext, type ServiceApp } from './service-app.ts';
import type { ServiceConfig } from './service-config.ts';
import type { CollectorPatience } from './telemetry/collector-patience.ts';
import { openTelemetry, type Telemetry } from './telemetry/open-telemetry.ts';

/** Work of a service that is not started by requests. */
type Worker = {
  /** Settles when the worker receives messages from its queue. */
  subscribed?: Promise<unknown>;
  /** Stops the worker. A worker without `stop` ends with the message bus of its service. */
  stop?(): Promise<void>;
};

/** Workers by name, in the order of their start. `null` when this process runs without the worker. */
type WorkerStarts = Readonly<Record<string, (() => Worker | Promise<Worker>) | null>>;
type StartedBy<Start> = Start extends () => infer Result ? Awaited<Result> : null;
type StartedWorkers<Starts extends WorkerStarts> = { readonly [Name in keyof Starts]: StartedBy<Starts[Name]> };

/** The members of a context that the start needs. */
type ServiceContext = AppContext & {
  readonly config: ServiceConfig & ListenConfig;
  readonly relay: { start(): void };
  close(): Promise<void>;
};

type StandardService<Context extends ServiceContext, Starts extends WorkerStarts, Caller> = {
  /** Name of the service in logs and telemetry. */
  name: string;
  /** Name of the service for people: "control plane". */
  title: string;
  config: ServiceConfig & ListenConfig;
  /** The lifecycle of the process, when several services share one. */
  lifecycle: Lifecycle | undefined;
  collectorPatience?: CollectorPatience | undefined;
  /** Builds the context, which then owns the telemetry. */
  createContext(telemetry: Telemetry): Context | Promise<Context>;
  /** Registers what the service has to close besides its context. Runs before anything starts. */
  prepare?(context: Context, lifecycle: Lifecycle): void;
  workers(context: Context): Starts;
  app(context: Context, workers: StartedWorkers<Starts>): ServiceApp<Caller>;
  /** Further ports that serve the same app, by name. `null` when the port is not configured. */
  morePorts?: Readonly<Record<string, number | null>>;
  /** How long the main port waits for requests in flight when it closes. */
  graceMs?: number;
};

export type StartedService<Context, Workers = unknown> = {
  readonly url: string;
  /** Where probes are answered: the health port, or the main port without one. */
  readonly healthUrl: string;
  readonly context: Context;
  readonly workers: Workers;
  /** Settles when all workers receive messages from their queues. */
  readonly subscribed: Promise<void>;
  /** Becomes not ready, then accepts no requests, then no work. Safe to call twice. */
  stop(): Promise<boolean>;
};

/**
 * Starts a service in this process, on a migrated schema: context, outbox relay, workers, health port, main port.
 * Everything is registered with the lifecycle, so a stop closes it in reverse. Rejects when a part does not start.
 */
export async function startStandardService<Context extends ServiceContext, Starts extends WorkerStarts, Caller>(
  service: StandardService<Context, Starts, Caller>,
): Promise<StartedService<Context, StartedWorkers<Starts>>> {
  const { host, port, healthPort, stopNoticeMs } = service.config;
  const context = await openContext(service);
  const lifecycle = service.lifecycle ?? createLifecycle(context.log);
  lifecycle.onClose('context', context.close);
  service.prepare?.(context, lifecycle);
  lifecycle.giveNotice(stopNoticeMs);
  context.relay.start();
  const workers = await startWorkers(service.workers(context), lifecycle);
  const app = service.app(context, workers);
  const serve = async (
    name: string,
    served: Parameters<typeof serveHttp>[0],
    options: { port: number; graceMs?: number },
  ) => {
    const server = await serveHttp(served, { host, ...options });
    lifecycle.onClose(name, server.close);
    return server.url;
  };
  const healthApp = () => createHealthApp(context, app, { title: service.title, lifecycle });
  const healthUrl = healthPort === null ? null : await serve('health', healthApp(), { port: healthPort });
  const mainApp = createServiceApp(context, app, lifecycle);
  const url = await serve('http', mainApp, {
    port,
    ...(service.graceMs === undefined ? {} : { graceMs: service.graceMs }),
  });
  for (const [name, more] of Object.entries(service.morePorts ?? {}))
    if (more !== null) await serve(name, mainApp, { port: more });
  return {
    url,
    healthUrl: healthUrl ?? url,
    context,
    workers,
    subscribed: allSubscribed(Object.values(workers)),
    stop: () => lifecycle.stop(),
  };
}

type Opening<Context> = Pick<
  StandardService<Context & ServiceContext, WorkerStarts, unknown>,
  'name' | 'config' | 'collectorPatience' | 'createContext'
>;

async function openContext<Context>({ name, config, collectorPatience, createContext }: Opening<Context>) {
  const about = { service: name, version: build.version };
  const telemetry = await openTelemetry(config.collector, about, collectorPatience);
  try {
    return await createContext(telemetry);
  } catch (error) {
    await telemetry.close();
    throw error;
  }
}

/**
 * Starts the workers one by one and registers each at once. A start that fails half-way therefore stops the workers
 * that run.
 */
async function startWorkers<Starts extends WorkerStarts>(
  starts: Starts,
  lifecycle: Lifecycle,
): Promise<StartedWorkers<Starts>> {
  const started: [string, Worker | null][] = [];
  for (const [name, start] of Object.entries(starts)) {
    const worker = start === null ? null : await start();
    started.push([name, worker]);
    if (worker?.stop !== undefined) lifecycle.onClose(name, () => worker.stop?.());
  }
  return Object.fromEntries(started) as StartedWorkers<Starts>; // one entry for each name
}

async function allSubscribed(workers: readonly (Worker | null)[]): Promise<void> {
  await Promise.all(workers.flatMap((worker) => worker?.subscribed ?? []));
}

/** Runs a service as this process, from reading its environment to the exit code. See `runService`. */
export async function runStandardService(service: {
  name: string;
  start(lifecycle: Lifecycle): Promise<unknown>;
}): Promise<void> {
  await runService({
    log: createLogger({ service: service.name }),
    start: async (lifecycle) => {
      await service.start(lifecycle);
    },
  });
}
