import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  healthEndpoints,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type Endpoint,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { beginLoginRoute } from './routes/begin-login.ts';
import { deleteSessionRoute } from './routes/delete-session.ts';
import { finishLoginRoute } from './routes/finish-login.ts';
import { frontPageRoute } from './routes/front-page.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getSessionRoute } from './routes/get-session.ts';
import { introspectSessionRoute } from './routes/introspect-session.ts';
import { refreshSessionRoute } from './routes/refresh-session.ts';

type Running = { lifecycle: Pick<Lifecycle, 'isStopping'> };

export function createApp(context: Context, { lifecycle }: Running): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(context.config),
    endpoints: [...endpointsOf(context), ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context))],
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
    endpoints: healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context)),
    guards: createGuards(context),
    log: context.log,
    hosts: context.config.allowedHosts,
    mount: mountMetrics(context.telemetry),
  });
}

function endpointsOf(context: Context): Endpoint[] {
  return [
    frontPageRoute(),
    openApiEndpoint('control-plane'),
    getHealthRoute(context),
    beginLoginRoute(context),
    finishLoginRoute(context),
    refreshSessionRoute(context),
    getSessionRoute(context),
    deleteSessionRoute(context),
    introspectSessionRoute(context),
  ];
}
