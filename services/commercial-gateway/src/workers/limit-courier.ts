import type { Entitlements } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { announceIfChanged } from '../entitlements/announce-entitlements.ts';
import { applyPlanBudgets } from '../plan-limits/apply-plan-budgets.ts';
import { addEntitlementStates, claimDueOrgs, scheduleEntitlements } from '../store/entitlement-states.ts';

const passMs = 2_000;
/** Longer than the requests to the kernel for one organisation take. */
const leaseMs = 120_000;
/** Shares of several workspaces follow their use. */
const sharedMs = 15_000;
/** Budgets of the kernel are durable, so confirming them again is a precaution. */
const confirmMs = 600_000;
/** After a failure the kernel is asked again soon: until then its last budgets are in force. */
const retryMs = 5_000;

type Delivering = Pick<
  Context,
  'kernel' | 'database' | 'transaction' | 'now' | 'newEvent' | 'entitlementTerms' | 'log'
>;

/** Publishes entitlements that changed, and sets their limits at the kernel until it confirms them. Safe on every replica at once. */
export function startLimitCourier(context: Context): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const onFailure = (error: unknown) => log.warn('limit_courier.failed', { error });
  const passes = repeat({ run: () => deliverDue(context), intervalMs: passMs, clockGuard, onFailure });
  return { stop: passes.close };
}

/** One pass over the organisations that are due. One that fails keeps no other from its turn. */
async function deliverDue(context: Delivering): Promise<void> {
  const { transaction, now, log } = context;
  const leasedUntil = new Date(now().getTime() + leaseMs);
  const due = await transaction(async (tx) => {
    await addEntitlementStates(tx);
    return claimDueOrgs(tx, { now: now(), until: leasedUntil });
  });
  for (const orgId of due) {
    const pauseMs = await deliverOne(context, { orgId, leasedUntil }).catch((error: unknown) => {
      log.warn('limit_courier.org_failed', { error, orgId });
      return retryMs;
    });
    const dueAt = new Date(now().getTime() + pauseMs);
    await transaction((tx) => scheduleEntitlements(tx, orgId, { leasedUntil, dueAt }));
  }
}

/** Returns the time until the organisation is due again. */
async function deliverOne(context: Delivering, held: { orgId: OrgId; leasedUntil: Date }): Promise<number> {
  const { orgId, leasedUntil } = held;
  const now = context.now();
  const entitlements = await context.transaction((tx) =>
    announceIfChanged(tx, context, { orgId, now, dueAt: leasedUntil }),
  );
  const { limit } = entitlements.limits.tool_calls;
  await applyPlanBudgets(context, { ...held, limit });
  const workspaces = limit === null ? 0 : await context.database.reader.orgWorkspace.count({ where: { orgId } });
  return Math.min(workspaces > 1 ? sharedMs : confirmMs, untilEnd(entitlements, now));
}

function untilEnd({ valid_until }: Entitlements, now: Date): number {
  return valid_until === null ? confirmMs : Math.max(0, Date.parse(valid_until) - now.getTime());
}
