import {
  LimitName,
  NeverLimited,
  PlanCapability,
  type EntitlementCheck,
  type EntitlementName,
  type Entitlements,
  type PlanTerms,
} from '@countersign/contracts/commercial-gateway';

type Demand = {
  readonly name: EntitlementName;
  /** The requested increase. */
  readonly amount: number;
};

/** Decides whether an entitlement allows the demand. `offered` lists the plans for an upgrade, smallest first. */
export function checkEntitlement(
  entitlements: Entitlements,
  { name, amount }: Demand,
  offered: readonly PlanTerms[],
): EntitlementCheck {
  if (NeverLimited.safeParse(name).success)
    return { allowed: true, reason_code: 'NEVER_LIMITED', limit: null, used: null, upgrade: null };
  const counted = LimitName.safeParse(name);
  if (counted.success) return checkLimit(entitlements, { name: counted.data, amount }, offered);
  const capability = PlanCapability.parse(name);
  const includes = ({ capabilities }: Pick<PlanTerms, 'capabilities'>) => capabilities.includes(capability);
  const uncounted = { limit: null, used: null };
  if (includes(entitlements)) return { allowed: true, reason_code: 'INCLUDED', ...uncounted, upgrade: null };
  const upgrade = firstOf(larger(offered, entitlements), includes);
  return { allowed: false, reason_code: 'ENTITLEMENT_REQUIRED', ...uncounted, upgrade };
}

function checkLimit(
  entitlements: Entitlements,
  { name, amount }: { name: LimitName; amount: number },
  offered: readonly PlanTerms[],
): EntitlementCheck {
  const { limit, used } = entitlements.limits[name];
  if (limit === null) return { allowed: true, reason_code: 'NO_LIMIT', limit, used, upgrade: null };
  // When the usage is unknown, only an amount over the whole limit is refused.
  const wanted = (used ?? 0) + amount;
  const reason = used === null ? 'NOT_COUNTED' : 'WITHIN_LIMIT';
  if (wanted <= limit) return { allowed: true, reason_code: reason, limit, used, upgrade: null };
  const suffices = (plan: PlanTerms) => wanted <= (plan.limits[name] ?? Infinity);
  const upgrade = firstOf(larger(offered, entitlements), suffices);
  return { allowed: false, reason_code: 'LIMIT_REACHED', limit, used, upgrade };
}

/** Returns the plans above the plan in force, or all plans when the plan in force is not offered. */
function larger(offered: readonly PlanTerms[], { plan_id }: Entitlements): PlanTerms[] {
  return offered.slice(offered.findIndex((plan) => plan.plan_id === plan_id) + 1);
}

function firstOf(offered: readonly PlanTerms[], suffices: (plan: PlanTerms) => boolean): EntitlementCheck['upgrade'] {
  const plan = offered.find(suffices);
  return plan === undefined ? null : { plan_id: plan.plan_id };
}
