import { AppError } from '@countersign/contracts';
import { BillingPlanId, type Entitlements } from '@countersign/contracts/commercial-gateway';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { latestPlan } from '../billing/plan-catalog.ts';
import { announceEntitlements } from '../entitlements/announce-entitlements.ts';
import { entitlementsOf } from '../entitlements/entitlements-of.ts';
import { registrableDomain, startTrial } from '../entitlements/start-trial.ts';
import { assertNothingOpen } from '../invoicing/assert-nothing-open.ts';
import { recordAudit } from '../store/audit.ts';
import { listVerifiedDomains } from '../store/claimed-domains.ts';
import { storePlanVersions } from '../store/plan-versions.ts';
import { insertTrial, listUsedTrials } from '../store/trials.ts';

const trialPlanId = BillingPlanId.parse('team');

type Begun = {
  planId: BillingPlanId;
  domains: readonly string[];
  startsAt: Date;
  endsAt: Date;
  entitlements: Entitlements;
};

/**
 * Begins the one trial of an organisation and of its registrable domains. Throws ALREADY_EXISTS when a trial was
 * already used, and GATE_NOT_PASSED without a verified domain or while an invoice is open. Throws ILLEGAL_TRANSITION
 * when a trial would not extend the plan in force.
 */
export function beginTrial(deps: BillingDeps, caller: BillingCaller): Promise<Begun> {
  const { orgId, actor, requestId } = caller;
  return inBillingAccount(deps, orgId, async (tx, now) => {
    const verifiedDomains = await listVerifiedDomains(tx, orgId);
    const used = await listUsedTrials(tx, { orgId, domains: verifiedDomains.flatMap(registrableDomain) });
    const verdict = startTrial({ org: orgId, verifiedDomains }, used, now);
    if (verdict.kind === 'refused') throw refusal(verdict.reason);
    await assertNothingOpen(tx, caller);
    assertExtends(deps, await entitlementsOf(tx, deps.entitlementTerms, { orgId, now }));
    const plan = latestPlan(trialPlanId);
    if (plan === null) throw new Error(`The catalogue has no plan ${trialPlanId}`);
    await storePlanVersions(tx, [plan], now);
    const { domains, startsAt, endsAt } = verdict;
    const trial = { orgId, planId: trialPlanId, planVersion: plan.version, startsAt, endsAt, startedBy: actor };
    // The insert fails when another organisation begins a trial of the same domain at the same time.
    if (!(await insertTrial(tx, trial, domains))) throw refusal('TRIAL_USED');
    const entitlements = await announceEntitlements(tx, deps, { orgId, now, cause: 'trial' });
    const details = { plan_id: trialPlanId, plan_version: plan.version, domains: [...domains] };
    await recordAudit(tx, { scope: orgId, action: 'trial.started', actor, verdict: 'allow', requestId, details }, now);
    return { planId: trialPlanId, domains, startsAt, endsAt, entitlements };
  });
}

/**
 * Throws ILLEGAL_TRANSITION when a trial would change nothing: under a licence, a subscription or an unlimited base
 * plan.
 */
function assertExtends({ entitlementTerms: { basePlan } }: BillingDeps, { plan_id }: Entitlements): void {
  if (plan_id === basePlan.plan_id && Object.keys(basePlan.limits).length > 0) return;
  throw new AppError('ILLEGAL_TRANSITION', `The plan ${plan_id} is in force, and a trial would not extend it`, {
    details: { plan_id, allowed: [] },
  });
}

function refusal(reason: 'DOMAIN_NOT_VERIFIED' | 'TRIAL_USED'): AppError {
  if (reason === 'TRIAL_USED')
    return new AppError('ALREADY_EXISTS', 'The organisation or one of its domains has used its trial. Choose a plan', {
      details: { reason },
    });
  return new AppError('GATE_NOT_PASSED', 'A trial requires a verified domain. Verify one at /api/commercial/identity', {
    details: { reason, missing: ['verified_domain'] },
  });
}
