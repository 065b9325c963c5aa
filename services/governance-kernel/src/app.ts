import type { AnyRoute } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/routes';
import { isUnavailable } from '@countersign/database';
import { endpointsOf, openApiEndpoint, storeOutage, type HealthCheck, type ServiceApp } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards, tellCaller } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { operations } from './operations.ts';
import { healthzRoute } from './routes/health.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';

type Workers = { readonly all: { readonly check: HealthCheck } };

/** The application with the routes, guards and health checks of the kernel. */
export function createApp(kernel: Context, { all: workers }: Workers): ServiceApp<unknown> {
  const endpoints = [
    openApiEndpoint('governance-kernel'),
    ...endpointsOf(kernelRoutes, operations, kernel).filter(({ route }) => kernel.config.hasDemo || !isDemo(route)),
  ];
  return {
    endpoints,
    guards: createGuards(kernel),
    ready: readinessChecks(kernel),
    informational: toldChecks(kernel, workers),
    healthPort: [showFrontPageRoute(kernel), healthzRoute(kernel)],
    // Express costs a large part of each request, so decisions bypass it.
    fastOperations: endpoints.filter(({ route }) => route.governed === true).map(({ route }) => route.operation),
    idempotency: kernel.answers,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    tellCaller,
    guardQuery: ['tenant_id'],
  };
}

/** The demo uses a tenant of its own. Its routes exist only when the demo is configured. */
const isDemo = ({ path }: AnyRoute) => path.startsWith('/api/demo/');
