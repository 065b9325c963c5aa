import { startStandardService, type Lifecycle, type StartedService } from '@countersign/service-kit';
import { createApp } from './app.ts';
import type { GatewayConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { startApprovalListener } from './workers/approval-listener.ts';
import { startCourier } from './workers/courier.ts';
import { startEntitlementListener } from './workers/entitlement-listener.ts';
import { startIncidentListener } from './workers/incident-listener.ts';
import { startOrchestrator } from './workers/orchestrator.ts';
import { startEndListener, startPersonListener } from './workers/person-listener.ts';
import { startPersonSettler } from './workers/person-settler.ts';
import { startReceiptReview } from './workers/receipt-review.ts';
import { startSettingsCourier } from './workers/settings-courier.ts';
import { startSignInRuleListener } from './workers/sign-in-rule-listener.ts';

export type StartedGateway = StartedService<Context>;

export type StartOptions = ContextOverrides & { lifecycle?: Lifecycle };

/** Starts the service in this process. The schema must have been migrated. */
export function startGateway(
  config: GatewayConfig,
  { lifecycle, ...overrides }: StartOptions = {},
): Promise<StartedGateway> {
  return startStandardService({
    name: 'gateway',
    title: 'gateway',
    config,
    lifecycle,
    createContext: (telemetry) => createContext(config, telemetry, overrides),
    // The control plane of the same process closes before the gateway, so the watch stops first.
    prepare: ({ sessionWatch }, running) => running.beforeClose(() => void sessionWatch?.stop()),
    workers: workersOf,
    app: createApp,
    morePorts: { console: config.consolePort },
  });
}

function workersOf(context: Context) {
  const hasRuns = context.config.runs.workers > 0;
  const hasKernel = hasRuns && context.kernel !== null;
  return {
    orchestrator: hasRuns ? () => startOrchestrator(context) : null,
    approvals: hasRuns ? () => startApprovalListener(context) : null,
    incidents: hasRuns ? () => startIncidentListener(context) : null,
    settings: hasKernel ? () => startSettingsCourier(context) : null,
    receipts: hasKernel ? () => startReceiptReview(context) : null,
    entitlements: () => startEntitlementListener(context),
    courier: () => startCourier(context),
    people: () => startPersonListener(context),
    ends: () => startEndListener(context),
    settler: () => startPersonSettler(context),
    signInRules: () => startSignInRuleListener(context),
  };
}
