import type { GateName, PrincipalId } from '@countersign/contracts';
import {
  egressFact,
  provenanceFact,
  sandboxFact,
  toolsNamed,
  type Destination,
  type Facts,
  type HeldGrant,
} from '@countersign/policy';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { identityFact, scopesFact, wantedIdentityOf, wantedScopes } from '../controls/access-keys/key-facts.ts';
import { sponsorOf } from '../controls/access-keys/sponsor.ts';
import { approvals } from '../controls/approvals/approvals.ts';
import type { BudgetRow } from '../controls/budgets/budget-row.ts';
import { budgetFact } from '../controls/budgets/reserve.ts';
import type { FenceRow } from '../controls/fences/fence-row.ts';
import { fenceFact, fencesInForce, wantedFences } from '../controls/fences/in-force.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { approvalTerms } from '../controls/voting/approval-terms.ts';
import type { LoadedPolicy } from '../controls/policy/loaded-policy.ts';
import type { Confirmations } from '../controls/policy/confirmations.ts';
import { policyFact } from '../controls/policy/policy-fact.ts';
import { isBlocked } from '../controls/policy/block-tools.ts';
import { wantedCeilings } from '../controls/policy/policy-ceilings.ts';
import { wantedPolicies, type PolicyHead } from '../controls/policy/policy-heads.ts';
import { settingsFact, wantedSettings } from '../controls/policy/settings-fact.ts';
import { toolBlocks } from '../controls/policy/tool-blocks.ts';
import { wantedServers } from '../registry/known-servers.ts';
import { registry } from '../registry/registry.ts';
import { wantedGrants } from '../controls/sandbox/held-grant.ts';
import { relationshipFact } from '../controls/relations/relationship-fact.ts';
import { wantedRelations } from '../controls/relations/current-relations.ts';
import { approvalFact, presentedApproval, standingApprovals } from './approval-fact.ts';
import type { NamedCall } from '../call/governed-call.ts';
import type { Asker, KnownCall } from './known-call.ts';
import { isPricedHere, limitingBudgets } from './limiting-budgets.ts';
import { registeredTool, registryFact } from './registry-fact.ts';

export type Gathered = {
  facts: Facts;
  /** Fences that cover the call, with throttles in the current window. */
  fences: FenceRow[];
  /** Budgets that limit the call, in the current window, by name. */
  budgets: BudgetRow[];
  /** The approval that the decision judged. */
  approval: ApprovalRow | null;
  /** Pending approval requests for this exact call, newest first. */
  open: ApprovalRow[];
  /** The person behind the call. */
  sponsor: PrincipalId | null;
};

export type Situation = KnownCall & {
  policy: LoadedPolicy | null;
  nowMs: number;
  now: string;
};

/**
 * The facts that come from the source of each gate. The gate `arguments` has none of its own: it reads the schema in
 * `registry`.
 */
type FactsOf = {
  request: 'request';
  fence: 'fence' | 'settings';
  policy: 'policy';
  identity: 'identity';
  relationship: 'relationship';
  registry: 'registry';
  arguments: never;
  scopes: 'scopes';
  sandbox: 'sandbox';
  egress: 'egress';
  provenance: 'provenance';
  rules: 'block';
  budget: 'budgets' | 'demand' | 'priced_in';
  approval: 'approval' | 'judged_hash';
};

type Source<Gate extends GateName> = {
  /** The sets that the source reads. Absent when the fact comes with the call. */
  wants?(prepared: KnownCall): readonly Wanted[];
  facts(read: Read): Pick<Facts, FactsOf[Gate]>;
};

/**
 * The inputs of the facts besides the call. `head` is the current policy head of the tenant, and `confirmations` are
 * the signed policy statements that this kernel has seen.
 */
type Basis = {
  head: PolicyHead | null;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  relationsAgeMaxMs: number;
  /** The currency of the price table. `null` when it is not configured. */
  priceCurrency: string | null;
  /** The sandbox grant of the tool. */
  grant: HeldGrant | null;
};
/** The values that sources read. Nested, since copying a call for each decision would cost more than judging it. */
type Read = {
  prepared: Situation;
  basis: Basis;
  batch: LedgerBatch;
  fences: FenceRow[];
  limiting: BudgetRow[];
  approval: ApprovalRow | null;
};

const judgesTheCallItself = { facts: () => ({}) };

/** The source of each gate's facts. A gate without a source does not compile. */
const sources: { readonly [Gate in GateName]: Source<Gate> } = {
  request: { facts: ({ prepared: { fault } }) => ({ request: { state: 'known', value: { fault } } }) },
  fence: {
    wants: (prepared) => [...wantedFences(prepared), ...wantedSettings(prepared.call.caller.tenant)],
    facts: ({ batch, fences, prepared: { call } }) => ({
      fence: { state: 'known', value: fences.map(fenceFact) },
      settings: settingsFact(batch, call.caller.tenant),
    }),
  },
  policy: {
    wants: ({ call: { caller } }) => [...wantedPolicies(caller.tenant), ...wantedCeilings(caller.tenant)],
    facts: ({ batch, prepared: { call, policy, nowMs }, basis: { head, confirmations, policyAgeMaxMs } }) => {
      const { tenant } = call.caller;
      const value = policyFact(head, { tenant, batch, policy, confirmations, policyAgeMaxMs, nowMs });
      return { policy: { state: 'known', value } };
    },
  },
  identity: {
    wants: ({ call: { caller } }) => wantedIdentityOf(caller),
    facts: ({ batch, prepared: { call, nowMs } }) => ({ identity: identityFact(batch, call.caller, nowMs) }),
  },
  relationship: {
    wants: ({ relations, call: { caller } }) => wantedRelations(relations, caller.tenant),
    facts: ({ batch, prepared: { relations, call, nowMs }, basis: { relationsAgeMaxMs: ageMaxMs } }) => ({
      relationship: relationshipFact(batch, { relations, tenant: call.caller.tenant, nowMs, ageMaxMs }),
    }),
  },
  registry: {
    wants: (prepared) => {
      const address = registeredTool(prepared);
      return [...wantedServers(prepared), ...(address === undefined ? [] : [wanted(registry, address)])];
    },
    facts: ({ batch, prepared }) => ({ registry: registryFact(batch, prepared) }),
  },
  arguments: judgesTheCallItself,
  scopes: {
    wants: ({ call: { caller }, intent }) => wantedScopes(caller, intent),
    facts: ({ batch, prepared: { call, intent } }) => ({ scopes: scopesFact(batch, call.caller, intent) }),
  },
  sandbox: {
    wants: wantedGrants,
    facts: ({ prepared: { policy, intent }, basis: { grant } }) => ({
      sandbox: sandboxFact(policy?.policy ?? null, intent, grant),
    }),
  },
  egress: {
    facts: ({ prepared: { call, policy, destination } }) => ({
      egress: blockedFact(call, destination) ?? egressFact(policy?.policy ?? null, destination),
    }),
  },
  provenance: {
    facts: ({ prepared: { policy, intent, asker, dispatchedBy } }) => ({
      provenance: provenanceFact(policy?.policy ?? null, intent, { dispatchedBy, isClaimed: isClaimed(asker) }),
    }),
  },
  rules: {
    wants: ({ call: { caller }, intent }) =>
      toolsNamed(intent).length === 0 ? [] : [wanted(toolBlocks, caller.tenant)],
    facts: ({ batch, prepared: { call, intent } }) => ({
      block: { state: 'known', value: { tool_blocked: isBlocked(batch, call.caller.tenant, toolsNamed(intent)) } },
    }),
  },
  budget: {
    wants: ({ budgetSets }) => budgetSets,
    facts: ({ prepared, limiting, basis: { priceCurrency } }) => ({
      budgets: { state: 'known', value: limiting.map(budgetFact) },
      demand: prepared.judged.demand,
      priced_in: priceCurrency !== null && isPricedHere(prepared) ? priceCurrency : undefined,
    }),
  },
  approval: {
    wants: ({ call: { caller, session, approvalGrant }, intent: { intent_hash: intentHash } }) => {
      const { tenant } = caller;
      const ofIntent = [wanted(approvals, { tenant, session, intentHash }), wanted(approvalTerms, tenant)];
      if (approvalGrant === undefined) return ofIntent;
      return [...ofIntent, wanted(approvals, { tenant, session, id: approvalGrant })];
    },
    facts: ({ batch, prepared, approval }) => ({
      approval: { state: 'known', value: approvalFact(batch, prepared, approval) },
      judged_hash: prepared.judged.hash,
    }),
  },
};

const allSources: readonly Pick<Source<GateName>, 'wants'>[] = Object.values(sources);
const askingSources = allSources.flatMap(({ wants }) => (wants === undefined ? [] : [{ wants }]));

/** The sets from which the facts of a call are derived. */
export function wantedFacts(prepared: KnownCall): Wanted[] {
  const sets: Wanted[] = [];
  for (const { wants } of askingSources) sets.push(...wants(prepared));
  return sets;
}

/** Step 3 of the cycle: all facts of the decision in one object, under the versions that the commit checks. */
export function gatherFacts(batch: LedgerBatch, prepared: Situation, basis: Basis): Gathered {
  const fences = fencesInForce(batch, prepared, prepared.nowMs);
  const limiting = limitingBudgets(batch, prepared);
  const active = standingApprovals(batch, prepared, () => ({
    registry: registryFact(batch, prepared),
    budgets: { state: 'known', value: limiting.map(budgetFact) },
  }));
  const approval = presentedApproval(batch, prepared, active);
  const read: Read = { prepared, basis, batch, fences, limiting, approval };
  const stops = sources.fence.facts(read);
  const amounts = sources.budget.facts(read);
  const granted = sources.approval.facts(read);
  const facts: Facts = {
    now: prepared.now,
    request: sources.request.facts(read).request,
    fence: stops.fence,
    settings: stops.settings,
    policy: sources.policy.facts(read).policy,
    identity: sources.identity.facts(read).identity,
    relationship: sources.relationship.facts(read).relationship,
    registry: sources.registry.facts(read).registry,
    scopes: sources.scopes.facts(read).scopes,
    sandbox: sources.sandbox.facts(read).sandbox,
    egress: sources.egress.facts(read).egress,
    provenance: sources.provenance.facts(read).provenance,
    block: sources.rules.facts(read).block,
    budgets: amounts.budgets,
    demand: amounts.demand,
    priced_in: amounts.priced_in,
    approval: granted.approval,
    judged_hash: granted.judged_hash,
  };
  const open = active.filter(({ state }) => state === 'pending');
  const sponsor = sponsorOf(batch, prepared.call.caller);
  return { facts: Object.freeze(facts), fences, budgets: limiting, approval, open, sponsor };
}

/** The fact for a destination that the kernel has already refused. `null` when it refused none. */
function blockedFact({ blockedDestination: detail }: NamedCall, destination: Destination): Facts['egress'] | null {
  if (detail === undefined) return null;
  return { state: 'known', value: { destination: destination?.host ?? '', allowed: false, detail } };
}

function isClaimed(asker: Asker): boolean {
  return asker.dispatchedBy === 'kernel' && asker.isClaimed;
}
