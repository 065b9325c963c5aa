import { controlPlaneRoutes } from '@countersign/contracts/routes';
import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  endpointsOf,
  healthEndpoints,
  healthPageEndpoint,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { operations } from './operations.ts';

type Running = { lifecycle: Pick<Lifecycle, 'isStopping'> };

export function createApp(context: Context, { lifecycle }: Running): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(context.config),
    endpoints: [
      openApiEndpoint('control-plane'),
      ...endpointsOf(controlPlaneRoutes, operations, context),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context)),
    ],
    guards: createGuards(context),
    log: context.log,
    telemetry: context.telemetry,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
  });
}

/** A port of its own for probes and for Prometheus, which the world does not reach. */
export function createHealthApp(context: Context, { lifecycle }: Running): HttpApp {
  return createHttpApp({
    endpoints: [
      healthPageEndpoint('Countersign control plane'),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context)),
    ],
    guards: createGuards(context),
    log: context.log,
    hosts: context.config.allowedHosts,
    mount: mountMetrics(context.telemetry),
  });
}
