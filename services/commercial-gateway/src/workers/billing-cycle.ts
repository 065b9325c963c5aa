import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { runBilling } from '../cycle/run-billing.ts';

const passMs = 60_000;

/** Does what becomes due in the billing cycle. Safe on every replica at once. */
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
