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
  /** The checks on which readiness depends. */
  ready: ProbeChecks;
  /** Additional checks. `/health/ready` reports them, but they never make the service unready. */
  informational: ProbeChecks;
  /** Endpoints of the health port in addition to the probes. The default is a page that names the probes. */
  healthPort?: readonly Endpoint[];
};

export type AppContext = { readonly config: ServiceConfig; readonly log: Log; readonly telemetry: Telemetry };

type Stopping = Pick<Lifecycle, 'isStopping'>;

/** The HTTP app of the main port: the endpoints of the service and its probes. */
export function createServiceApp<Caller>(
  { config, log, telemetry }: AppContext,
  { ready, informational, healthPort: _, endpoints, ...options }: ServiceApp<Caller>,
  lifecycle: Stopping,
): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(config),
    ...options,
    endpoints: [...endpoints, ...healthEndpoints(ready, lifecycle, informational)],
    log,
    telemetry,
  });
}

/** The HTTP app of the health port: probes and metrics, which must not be reachable from outside. */
export function createHealthApp<Caller>(
  { config, log, telemetry }: AppContext,
  { ready, informational, healthPort, guards }: ServiceApp<Caller>,
  { title, lifecycle }: { title: string; lifecycle: Stopping },
): HttpApp {
  return createHttpApp({
    endpoints: [
      ...(healthPort ?? [healthPageEndpoint(`Countersign ${title}`)]),
      ...healthEndpoints(ready, lifecycle, informational),
    ],
    guards,
    log,
    hosts: config.allowedHosts,
    mount: mountMetrics(telemetry),
  });
}
