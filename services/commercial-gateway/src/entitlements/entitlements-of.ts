import type { Entitlements } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { licenceEndsAt, verifyLicence } from '../licence/verify-licence.ts';
import type { Reader } from '../store/database.ts';
import { findCurrentLicence } from '../store/licences.ts';
import { findOrgSettings } from '../store/org-settings.ts';
import { getPlanVersion } from '../store/plan-versions.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { findTrial } from '../store/trials.ts';
import { countToolCalls, countWorkspaces } from '../store/usage-counts.ts';
import { computeEntitlements, type EntitlementFacts } from './compute-entitlements.ts';
import { termsOfPlan, type EntitlementTerms } from './entitlement-terms.ts';

/**
 * Returns the current entitlements of an organisation. Pass the reader of a snapshot or of the transaction that changes
 * a fact.
 */
export async function entitlementsOf(
  reader: Reader,
  terms: EntitlementTerms,
  at: OrgAt,
  elsewhere: UseElsewhere = {},
): Promise<Entitlements> {
  const facts = await factsOf(reader, terms, at);
  return computeEntitlements({ ...facts, usage: { ...(await usageOf(reader, at)), ...elsewhere } }, at.now);
}

/** Usage that other services count. */
export type UseElsewhere = Partial<Record<'connectors' | 'shadow_lanes', number>>;

/** Like `entitlementsOf`, but every usage is `null`, because counting takes time. */
export async function termsInForce(reader: Reader, terms: EntitlementTerms, at: OrgAt): Promise<Entitlements> {
  return computeEntitlements({ ...(await factsOf(reader, terms, at)), usage: uncounted }, at.now);
}

type OrgAt = { orgId: OrgId; now: Date };

const uncounted: EntitlementFacts['usage'] = {
  ...{ tool_calls: null, workspaces: null, concurrent_runs: null, members: null },
  ...{ connectors: null, shadow_lanes: null, retention_days: null },
};

async function factsOf(
  reader: Reader,
  terms: EntitlementTerms,
  { orgId, now }: OrgAt,
): Promise<Omit<EntitlementFacts, 'usage'>> {
  const { suspension, override } = await findOrgSettings(reader, orgId);
  return {
    basePlan: terms.basePlan,
    subscription: await subscriptionOf(reader, orgId),
    trial: await trialOf(reader, orgId),
    licence: await licenceOf(reader, terms, { orgId, now }),
    overrides: override === null ? [] : [override],
    isSuspended: suspension !== null,
  };
}

async function subscriptionOf(reader: Reader, orgId: OrgId): Promise<EntitlementFacts['subscription']> {
  const subscription = await findCurrentSubscription(reader, orgId);
  if (subscription === null) return null;
  const { planId, planVersion: version, status } = subscription;
  return { plan: termsOfPlan(await getPlanVersion(reader, { planId, version })), status };
}

async function trialOf(reader: Reader, orgId: OrgId): Promise<EntitlementFacts['trial']> {
  const trial = await findTrial(reader, orgId);
  if (trial === null) return null;
  const { planId, planVersion: version, endsAt } = trial;
  return { plan: termsOfPlan(await getPlanVersion(reader, { planId, version })), endsAt };
}

/** The licence text is verified at each read. A licence of a removed key and an edited row are ignored. */
async function licenceOf(
  reader: Reader,
  { licenceKeys: keys, installation }: EntitlementTerms,
  { orgId, now }: { orgId: OrgId; now: Date },
): Promise<EntitlementFacts['licence']> {
  const licence = await findCurrentLicence(reader, orgId);
  if (licence === null) return null;
  const verdict = await verifyLicence(licence.text, { keys, installation, org: orgId, now });
  if (verdict.kind === 'invalid') return null;
  const { plan_id, plan_version, limits, capabilities } = verdict.claims;
  return { plan: { plan_id, plan_version, limits, capabilities }, endsAt: licenceEndsAt(verdict.claims) };
}

async function usageOf(
  reader: Reader,
  { orgId, now }: { orgId: OrgId; now: Date },
): Promise<EntitlementFacts['usage']> {
  return {
    ...uncounted,
    tool_calls: await countToolCalls(reader, orgId, now),
    workspaces: await countWorkspaces(reader, orgId),
  };
}
