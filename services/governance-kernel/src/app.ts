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

/** Every route of the kernel. */
export function createApp(kernel: Context, { all: workers }: Workers): ServiceApp<unknown> {
  const endpoints = [
    openApiEndpoint('governance-kernel'),
    ...endpointsOf(kernelRoutes, operations, kernel).filter(({ route }) => kernel.config.hasDemo || !isDemo(route)),
  ];
  return {
    endpoints,
    guards: createGuards(kernel),
    ready: readinessChecks(kernel),
    told: toldChecks(kernel, workers),
    healthPort: [showFrontPageRoute(kernel), healthzRoute(kernel)],
    // Express costs a large part of each request, and decisions are under load.
    fastOperations: endpoints.filter(({ route }) => route.governed === true).map(({ route }) => route.operation),
    idempotency: kernel.answers,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    tellCaller,
    guardQuery: ['tenant_id'],
  };
}

/** The demo writes and reads a tenant of its own. Only a configuration that has the demo serves it. */
const isDemo = ({ path }: AnyRoute) => path.startsWith('/api/demo/');
