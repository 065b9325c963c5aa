import type { Entitlements } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { announceIfChanged } from '../entitlements/announce-entitlements.ts';
import { republishIdentity } from '../identity/republish-identity.ts';
import { applyPlanBudgets } from '../plan-limits/apply-plan-budgets.ts';
import { addEntitlementStates, claimDueOrgs, scheduleEntitlements } from '../store/entitlement-states.ts';

const passMs = 2_000;
/** Lease of an organisation. The requests to the kernel for one organisation take less time. */
const leaseMs = 120_000;
/** Interval for organisations with a limit and several workspaces, whose shares follow their usage. */
const sharedMs = 15_000;
/**
 * Interval for organisations with one workspace or without a limit. The kernel stores budgets durably, so confirming
 * them again is only a precaution.
 */
const confirmMs = 600_000;
/** Retry interval after a failure. Until then the last confirmed budgets are in force. */
const retryMs = 5_000;

type Delivering = Pick<
  Context,
  'kernel' | 'database' | 'transaction' | 'now' | 'newEvent' | 'entitlementTerms' | 'log'
>;

/**
 * Publishes changed entitlements, and sends their limits to the kernel until it confirms them. It can run on all
 * replicas at once.
 */
export function startLimitCourier(context: Context): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const onFailure = (error: unknown) => log.warn('limit_courier.failed', { error });
  const passes = repeat({ run: () => deliverDue(context), intervalMs: passMs, clockGuard, onFailure });
  return { stop: passes.close };
}

/** Runs one pass over the due organisations. A failure of one organisation does not delay the others. */
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
async function deliverOne(context: Delivering, lease: { orgId: OrgId; leasedUntil: Date }): Promise<number> {
  const { orgId, leasedUntil } = lease;
  const now = context.now();
  const entitlements = await context.transaction(async (tx) => {
    const announced = await announceIfChanged(tx, context, { orgId, now, dueAt: leasedUntil });
    if (announced.isRepeated) await republishIdentity(tx, context, { orgId, now });
    return announced.entitlements;
  });
  const { limit } = entitlements.limits.tool_calls;
  await applyPlanBudgets(context, { ...lease, limit });
  const workspaces = limit === null ? 0 : await context.database.reader.orgWorkspace.count({ where: { orgId } });
  return Math.min(workspaces > 1 ? sharedMs : confirmMs, untilEnd(entitlements, now));
}

function untilEnd({ valid_until }: Entitlements, now: Date): number {
  return valid_until === null ? confirmMs : Math.max(0, Date.parse(valid_until) - now.getTime());
}
