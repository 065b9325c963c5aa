import { instantOf, type Instant } from '@countersign/contracts';
import type { LimitName } from '@countersign/contracts/commercial-gateway';
import {
  PlanCapability,
  selfHostedPlanId,
  type EntitlementOverride,
  type Entitlements,
  type EntitlementSource,
  type PlanTerms,
} from '@countersign/contracts/commercial-gateway';

/** A subscription. `plan` is the pinned version of its plan. */
type Subscription = {
  readonly plan: PlanTerms;
  readonly status: 'incomplete' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'canceled';
};

/** Terms that apply until `endsAt`. */
type TimedTerms = { readonly plan: PlanTerms; readonly endsAt: Date };

export type EntitlementFacts = {
  /** The plan of organisations without a licence, subscription or trial. */
  readonly basePlan: PlanTerms;
  readonly subscription: Subscription | null;
  readonly trial: TimedTerms | null;
  /** A verified licence. It ends with its grace period. */
  readonly licence: TimedTerms | null;
  readonly overrides: readonly EntitlementOverride[];
  /** True when an installation administrator suspended the organisation. Then no new run starts, whatever its plan. */
  readonly isSuspended: boolean;
  /** Usage by limit. `null` when this service does not count it. */
  readonly usage: Readonly<Record<LimitName, number | null>>;
};

/** Computes the current entitlements of an organisation. */
export function computeEntitlements(facts: EntitlementFacts, now: Date): Entitlements {
  const { plan, source, endsAt } = currentTerms(facts, now);
  const overrides = plan.plan_id === selfHostedPlanId ? [] : inForce(facts.overrides, now);
  const ends = [...(endsAt === null ? [] : [endsAt]), ...overrides.map(({ expires_at }) => new Date(expires_at))];
  return {
    plan_id: plan.plan_id,
    source: overrides.length === 0 ? source : 'override',
    limits: withoutNewRuns(limitStates({ plan, overrides, usage: facts.usage, now }), facts),
    capabilities: PlanCapability.options.filter((name) =>
      [plan, ...overrides].some((one) => one.capabilities.includes(name)),
    ),
    valid_until: ends.length === 0 ? null : instantOf(Math.min(...ends.map((end) => end.getTime()))),
  };
}

type Terms = { plan: PlanTerms; source: EntitlementSource; endsAt: Date | null };

/** The order of precedence is licence, subscription, trial, base plan. */
function currentTerms({ basePlan, subscription, trial, licence }: EntitlementFacts, now: Date): Terms {
  if (licence !== null && now < licence.endsAt) return { ...licence, source: 'licence' };
  const plan = subscribedPlan(subscription);
  if (plan !== null) return { plan, source: 'plan', endsAt: null };
  if (trial !== null && now < trial.endsAt) return { ...trial, source: 'trial' };
  return { plan: basePlan, source: 'plan', endsAt: null };
}

/**
 * The plan that a subscription puts into force. `null` for an incomplete, trialing or canceled one. An unpaid
 * subscription starts no new run and keeps everything else. `unpaid` begins 14 days after the first failed payment.
 */
function subscribedPlan(subscription: Subscription | null): PlanTerms | null {
  if (subscription === null) return null;
  const { plan, status } = subscription;
  switch (status) {
    case 'active':
    case 'past_due':
      return plan;
    case 'unpaid':
      return { ...plan, limits: { ...plan.limits, concurrent_runs: 0 } };
    case 'incomplete':
    case 'trialing':
    case 'canceled':
      return null;
  }
}

function withoutNewRuns(limits: Entitlements['limits'], { isSuspended }: EntitlementFacts): Entitlements['limits'] {
  return isSuspended ? { ...limits, concurrent_runs: { ...limits.concurrent_runs, limit: 0, remaining: 0 } } : limits;
}

/** Returns the overrides in force, oldest first, so that the newest is applied last. */
function inForce(overrides: readonly EntitlementOverride[], now: Date): EntitlementOverride[] {
  return overrides
    .filter(({ created_at, expires_at }) => new Date(created_at) <= now && now < new Date(expires_at))
    .toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

type Counting = {
  plan: PlanTerms;
  overrides: readonly EntitlementOverride[];
  usage: EntitlementFacts['usage'];
  now: Date;
};

function limitStates({ plan, overrides, usage, now }: Counting): Entitlements['limits'] {
  const stateOf = (name: LimitName) => {
    const limit = overrides.reduce<number | null>(
      (current, { limits }) => (limits[name] === undefined ? current : limits[name]),
      plan.limits[name] ?? null,
    );
    const used = usage[name];
    const remaining = limit === null || used === null ? null : Math.max(0, limit - used);
    return { limit, used, remaining, resets_at: name === 'tool_calls' ? nextMonth(now) : null };
  };
  return {
    tool_calls: stateOf('tool_calls'),
    concurrent_runs: stateOf('concurrent_runs'),
    workspaces: stateOf('workspaces'),
    members: stateOf('members'),
    connectors: stateOf('connectors'),
    shadow_lanes: stateOf('shadow_lanes'),
    retention_days: stateOf('retention_days'),
  };
}

/** Returns the start of the next calendar month in UTC, when the budgets of the kernel reset. */
function nextMonth(now: Date): Instant {
  return instantOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
