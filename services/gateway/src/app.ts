import { gatewayRoutes } from '@countersign/contracts/routes';
import { isUnavailable } from '@countersign/database';
import {
  docsEndpoint,
  endpointsOf,
  openApiEndpoint,
  storeOutage,
  type HealthCheck,
  type ServiceApp,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards, whoBrought } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { operations } from './operations.ts';
import { tellFailedCall } from './reports/tell-failed-call.ts';
import { forwardRoutes } from './routes/forward.ts';

/** `orchestrator` is `null` in a process that leaves all runs to other gateways. */
type Workers = { readonly orchestrator: { readonly check: HealthCheck } | null };

const noRunWorkers: HealthCheck = () => Promise.resolve('none');

export function createApp(context: Context, { orchestrator }: Workers): ServiceApp<unknown> {
  return {
    endpoints: [
      openApiEndpoint('gateway'),
      docsEndpoint('gateway'),
      ...endpointsOf(gatewayRoutes, operations, context),
      ...forwardRoutes(context),
    ],
    guards: createGuards(context),
    ready: readinessChecks(context),
    informational: toldChecks(context, { check: orchestrator?.check ?? noRunWorkers }),
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    onFailed: tellFailedCall({ ...context, whoBrought: (req) => whoBrought(context, req) }),
    guardQuery: ['workspaceId'],
  };
}
