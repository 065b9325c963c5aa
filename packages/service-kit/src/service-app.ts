import type { Endpoint } from './endpoint.ts';
import { healthPageEndpoint } from './front-page.ts';
import { healthEndpoints, type ProbeChecks } from './health.ts';
import { createHttpApp, type HttpApp, type HttpAppOptions } from './http-app.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Log } from './logger.ts';
import { httpOptionsOf, type ServiceConfig } from './service-config.ts';
import { mountMetrics } from './telemetry/metrics-page.ts';
import type { Telemetry } from './telemetry/open-telemetry.ts';

type FromConfig = keyof ReturnType<typeof httpOptionsOf>;

/** The part of an HTTP app that only its service knows. */
export type ServiceApp<Caller> = Omit<HttpAppOptions<Caller>, FromConfig | 'log' | 'telemetry' | 'mount'> & {
  /** Checks that readiness depends on. */
  ready: ProbeChecks;
  /** Checks that `/health/ready` reports and that never make the service unready. */
  told: ProbeChecks;
  /** Endpoints of the health port beside the probes. A page that names the probes by default. */
  healthPort?: readonly Endpoint[];
};

export type AppContext = { readonly config: ServiceConfig; readonly log: Log; readonly telemetry: Telemetry };

type Stopping = Pick<Lifecycle, 'isStopping'>;

/** The HTTP app of the main port: the endpoints of the service and its probes. */
export function createServiceApp<Caller>(
  { config, log, telemetry }: AppContext,
  { ready, told, healthPort: _, endpoints, ...options }: ServiceApp<Caller>,
  lifecycle: Stopping,
): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(config),
    ...options,
    endpoints: [...endpoints, ...healthEndpoints(ready, lifecycle, told)],
    log,
    telemetry,
  });
}

/** The HTTP app of the health port: probes and metrics, which must not be reachable from outside. */
export function createHealthApp<Caller>(
  { config, log, telemetry }: AppContext,
  { ready, told, healthPort, guards }: ServiceApp<Caller>,
  { title, lifecycle }: { title: string; lifecycle: Stopping },
): HttpApp {
  return createHttpApp({
    endpoints: [
      ...(healthPort ?? [healthPageEndpoint(`Countersign ${title}`)]),
      ...healthEndpoints(ready, lifecycle, told),
    ],
    guards,
    log,
    hosts: config.allowedHosts,
    mount: mountMetrics(telemetry),
  });
}
