import { controlPlaneRoutes } from '@countersign/contracts/routes';
import { isUnavailable } from '@countersign/database';
import { endpointsOf, openApiEndpoint, storeOutage, type ServiceApp } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { operations } from './operations.ts';

export function createApp(context: Context): ServiceApp<unknown> {
  return {
    endpoints: [openApiEndpoint('control-plane'), ...endpointsOf(controlPlaneRoutes, operations, context)],
    guards: createGuards(context),
    ready: readinessChecks(context),
    informational: toldChecks(context),
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
  };
}
