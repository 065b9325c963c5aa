import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { runBilling } from '../cycle/run-billing.ts';

const passMs = 60_000;

/** Starts the billing cycle. It can run on all replicas at once. */
export function startBillingCycle(context: Context, intervalMs = passMs): { stop(): Promise<void> } {
  const { log, clockGuard, config } = context;
  const passes = repeat({
    run: () => runBilling({ ...context, taxPercent: config.billing.taxPercent }),
    intervalMs,
    clockGuard,
    onFailure: (error) => log.warn('billing_cycle.failed', { error }),
  });
  return { stop: passes.close };
}
