import type { AnyRoute } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/routes';
import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  endpointsOf,
  healthEndpoints,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards, tellCaller } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { operations } from './operations.ts';
import { healthzRoute } from './routes/health.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import type { Workers } from './workers/start-workers.ts';

type Stopping = Pick<Lifecycle, 'isStopping'>;

/** Every route of the kernel. */
export function createApp(kernel: Context, lifecycle: Stopping, workers: Pick<Workers, 'check'>): HttpApp {
  const endpoints = [
    openApiEndpoint('governance-kernel'),
    ...healthEndpoints(readinessChecks(kernel), lifecycle, toldChecks(kernel, workers)),
    ...endpointsOf(kernelRoutes, operations, kernel).filter(({ route }) => kernel.config.hasDemo || !isDemo(route)),
  ];
  return createHttpApp({
    ...httpOptionsOf(kernel.config),
    endpoints,
    guards: createGuards(kernel),
    log: kernel.log,
    telemetry: kernel.telemetry,
    // Whatever decides is under load: Express's own work per request would be a large part of each.
    fastOperations: endpoints.filter(({ route }) => route.governed === true).map(({ route }) => route.operation),
    idempotency: kernel.answers,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    tellCaller,
    guardQuery: ['tenant_id'],
  });
}

/** The demo writes and reads a tenant of its own. Only a configuration that has the demo serves it. */
const isDemo = ({ path }: AnyRoute) => path.startsWith('/api/demo/');

/** The separate health port serves probes, and a page that says so, under the same names. */
export function createHealthApp(kernel: Context, lifecycle: Stopping, workers: Pick<Workers, 'check'>): HttpApp {
  return createHttpApp({
    endpoints: [
      showFrontPageRoute(kernel),
      healthzRoute(kernel),
      ...healthEndpoints(readinessChecks(kernel), lifecycle, toldChecks(kernel, workers)),
    ],
    guards: createGuards(kernel),
    log: kernel.log,
    hosts: kernel.config.allowedHosts,
    mount: mountMetrics(kernel.telemetry),
  });
}
