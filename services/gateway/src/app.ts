import { gatewayRoutes } from '@countersign/contracts/routes';
import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  docsEndpoint,
  endpointsOf,
  healthEndpoints,
  healthPageEndpoint,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type HttpApp,
  type HealthCheck,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { operations } from './operations.ts';
import { tellFailedCall } from './reports/tell-failed-call.ts';
import { forwardRoutes } from './routes/forward.ts';

export type Running = { lifecycle: Pick<Lifecycle, 'isStopping'>; workers: { check: HealthCheck } };

export function createApp(context: Context, { lifecycle, workers }: Running): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(context.config),
    endpoints: [
      openApiEndpoint('gateway'),
      docsEndpoint('gateway'),
      ...endpointsOf(gatewayRoutes, operations, context),
      ...forwardRoutes(context),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context, workers)),
    ],
    guards: createGuards(context),
    log: context.log,
    telemetry: context.telemetry,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    onFailed: tellFailedCall(context),
    guardQuery: ['workspaceId'],
  });
}

/** A port of its own for probes and for Prometheus, which the world does not reach. */
export function createHealthApp(context: Context, { lifecycle, workers }: Running): HttpApp {
  return createHttpApp({
    endpoints: [
      healthPageEndpoint('Countersign gateway'),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context, workers)),
    ],
    guards: createGuards(context),
    log: context.log,
    hosts: context.config.allowedHosts,
    mount: mountMetrics(context.telemetry),
  });
}
