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
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { identityFact, scopesFact, wantedIdentityOf, wantedScopes } from '../access-keys/key-facts.ts';
import { sponsorOf } from '../access-keys/sponsor.ts';
import { approvals } from '../approvals/approvals.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import { budgets } from '../budgets/budgets.ts';
import { installationBudgets, isInstallationCeiling } from '../budgets/installation-ceiling.ts';
import { budgetFact, budgetSubjects } from '../budgets/reserve.ts';
import { inWindow } from '../budgets/window.ts';
import type { FenceRow } from '../fences/fence-row.ts';
import { fenceFact, fencesInForce, wantedFences } from '../fences/in-force.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { approvalTerms } from '../voting/approval-terms.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { Confirmations } from '../policy/confirmations.ts';
import { policyFact } from '../policy/policy-fact.ts';
import { isBlocked } from '../policy/block-tools.ts';
import { wantedCeilings } from '../policy/policy-ceilings.ts';
import { wantedPolicies, type PolicyHead } from '../policy/policy-heads.ts';
import { settingsFact, wantedSettings } from '../policy/settings-fact.ts';
import { toolBlocks } from '../policy/tool-blocks.ts';
import { wantedServers } from '../registry/known-servers.ts';
import { registry } from '../registry/registry.ts';
import { wantedGrants } from '../sandbox/held-grant.ts';
import { relationshipFact } from '../relations/relationship-fact.ts';
import { wantedRelations } from '../relations/under-standing-relations.ts';
import { approvalFact, presentedApproval, standingApprovals } from './approval-fact.ts';
import type { Asker, KnownCall } from './known-call.ts';
import { registeredTool, registryFact } from './registry-fact.ts';

export type Gathered = {
  facts: Facts;
  /** Those that stand around the call, throttles in the window of now. */
  fences: FenceRow[];
  /** Those that limit the call, in the window of now, by name. */
  budgets: BudgetRow[];
  /** The approval that the decision judged. */
  approval: ApprovalRow | null;
  /** Unanswered questions about this very call, newest first. */
  open: ApprovalRow[];
  /** The person behind the call. */
  sponsor: PrincipalId | null;
};

export type Situation = KnownCall & {
  policy: LoadedPolicy | null;
  nowMs: number;
  now: string;
};

/** Which facts a gate judges. Two gates may judge one fact: the arguments are held against the schema that the registry knows. */
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
  /** The sets that it reads; none: the fact comes with the call. */
  wants?(known: KnownCall): Wanted[];
  facts(read: Read): Pick<Facts, FactsOf[Gate]>;
};

/**
 * The basis of policy and relations: the current head of the tenant, the known statements behind it, and their maximum
 * age.
 */
type Basis = {
  head: PolicyHead | null;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  relationsAgeMaxMs: number;
  /** The currency of the price table. `null` when it is not configured. */
  priceCurrency: string | null;
  /** Under which the tool of the call runs. */
  grant: HeldGrant | null;
};
type Read = Situation &
  Basis & { batch: LedgerBatch; fences: FenceRow[]; limiting: BudgetRow[]; approval: ApprovalRow | null };

const judgesTheCallItself = { facts: () => ({}) };

/** Where the facts of each gate come from. A gate without a source does not compile. */
const sources: { readonly [Gate in GateName]: Source<Gate> } = {
  request: { facts: ({ fault }) => ({ request: { state: 'known', value: { fault } } }) },
  fence: {
    wants: (known) => [...wantedFences(known), ...wantedSettings(known.call.caller.tenant)],
    facts: ({ batch, fences, call: { caller } }) => ({
      fence: { state: 'known', value: fences.map(fenceFact) },
      settings: settingsFact(batch, caller.tenant),
    }),
  },
  policy: {
    wants: ({ call: { caller } }) => [...wantedPolicies(caller.tenant), ...wantedCeilings(caller.tenant)],
    facts: ({ head, ...read }) => {
      const value = policyFact(head, { ...read, tenant: read.call.caller.tenant });
      return { policy: { state: 'known', value } };
    },
  },
  identity: {
    wants: ({ call: { caller } }) => wantedIdentityOf(caller),
    facts: ({ batch, call, nowMs }) => ({ identity: identityFact(batch, call.caller, nowMs) }),
  },
  relationship: {
    wants: ({ held, call: { caller } }) => wantedRelations(held, caller.tenant),
    facts: ({ batch, held, call, nowMs, relationsAgeMaxMs: ageMaxMs }) => ({
      relationship: relationshipFact(batch, { held, tenant: call.caller.tenant, nowMs, ageMaxMs }),
    }),
  },
  registry: {
    wants: (known) => {
      const address = registeredTool(known);
      return [...wantedServers(known), ...(address === undefined ? [] : [wanted(registry, address)])];
    },
    facts: (read) => ({ registry: registryFact(read.batch, read) }),
  },
  arguments: judgesTheCallItself,
  scopes: {
    wants: ({ call: { caller }, intent }) => wantedScopes(caller, intent),
    facts: ({ batch, call, intent }) => ({ scopes: scopesFact(batch, call.caller, intent) }),
  },
  sandbox: {
    wants: wantedGrants,
    facts: ({ policy, intent, grant }) => ({ sandbox: sandboxFact(policy?.policy ?? null, intent, grant) }),
  },
  egress: {
    facts: ({ call, policy, destination }) => ({
      egress: blockedFact(call, destination) ?? egressFact(policy?.policy ?? null, destination),
    }),
  },
  provenance: {
    facts: ({ policy, intent, asker, dispatchedBy }) => ({
      provenance: provenanceFact(policy?.policy ?? null, intent, { dispatchedBy, isClaimed: isClaimed(asker) }),
    }),
  },
  rules: {
    wants: ({ call: { caller }, intent }) =>
      toolsNamed(intent).length === 0 ? [] : [wanted(toolBlocks, caller.tenant)],
    facts: ({ batch, call: { caller }, intent }) => ({
      block: { state: 'known', value: { tool_blocked: isBlocked(batch, caller.tenant, toolsNamed(intent)) } },
    }),
  },
  budget: {
    wants: (known) => limitedBy(known).map((key) => wanted(budgets, key)),
    facts: ({ judged, limiting, priceCurrency, ...call }) => ({
      budgets: { state: 'known', value: limiting.map(budgetFact) },
      demand: judged.demand,
      ...(priceCurrency !== null && isPricedHere(call) ? { priced_in: priceCurrency } : {}),
    }),
  },
  approval: {
    wants: ({ call: { caller, session, approvalGrant }, intent: { intent_hash: intentHash } }) => {
      const { tenant } = caller;
      const ofIntent = [wanted(approvals, { tenant, session, intentHash }), wanted(approvalTerms, tenant)];
      if (approvalGrant === undefined) return ofIntent;
      return [...ofIntent, wanted(approvals, { tenant, session, id: approvalGrant })];
    },
    facts: (read) => ({
      approval: { state: 'known', value: approvalFact(read.batch, read, read.approval) },
      judged_hash: read.judged.hash,
    }),
  },
};

const allSources: readonly Pick<Source<GateName>, 'wants'>[] = Object.values(sources);
const askingSources = allSources.flatMap(({ wants }) => (wants === undefined ? [] : [{ wants }]));

/** The sets that the facts of a call are made from. */
export function wantedFacts(known: KnownCall): Wanted[] {
  const sets: Wanted[] = [];
  for (const { wants } of askingSources) sets.push(...wants(known));
  return sets;
}

/** Step 3 of the cycle: everything the decision looks at, in one object, under the versions that the commit checks. */
export function gatherFacts(batch: LedgerBatch, situation: Situation, basis: Basis): Gathered {
  const fences = fencesInForce(batch, situation, situation.nowMs);
  const limiting = limitingBudgets(batch, situation);
  const standing = standingApprovals(batch, situation, () => ({
    registry: registryFact(batch, situation),
    budgets: { state: 'known', value: limiting.map(budgetFact) },
  }));
  const approval = presentedApproval(batch, situation, standing);
  const read: Read = { ...situation, ...basis, batch, fences, limiting, approval };
  const facts: Facts = {
    now: situation.now,
    request: sources.request.facts(read).request,
    ...sources.fence.facts(read),
    policy: sources.policy.facts(read).policy,
    identity: sources.identity.facts(read).identity,
    relationship: sources.relationship.facts(read).relationship,
    registry: sources.registry.facts(read).registry,
    scopes: sources.scopes.facts(read).scopes,
    sandbox: sources.sandbox.facts(read).sandbox,
    egress: sources.egress.facts(read).egress,
    provenance: sources.provenance.facts(read).provenance,
    block: sources.rules.facts(read).block,
    ...sources.budget.facts(read),
    ...sources.approval.facts(read),
  };
  const open = standing.filter(({ state }) => state === 'pending');
  const sponsor = sponsorOf(batch, situation.call.caller);
  return { facts: Object.freeze(facts), fences, budgets: limiting, approval, open, sponsor };
}

/** The caller's own by name, and the installation's after them: a refusal names what is the caller's to change, where there is such. */
function limitingBudgets(batch: LedgerBatch, situation: Situation): BudgetRow[] {
  return limitedBy(situation)
    .flatMap((key) => batch.rows(budgets, key))
    .map((budget) => inWindow(budget, situation.nowMs))
    .sort(
      (left, right) => Number(isInstallationCeiling(left)) - Number(isInstallationCeiling(right)) || byId(left, right),
    );
}

const byId = (left: BudgetRow, right: BudgetRow) => (left.id < right.id ? -1 : 1);

/** The kernel's own calls of a model are paid by the installation. */
function limitedBy({ call: { caller }, intent, dispatchedBy }: KnownCall) {
  const limited = { principal: intent.principal, tools: toolsNamed(intent) };
  const own = budgetSubjects(limited).map((subject) => ({ tenant: caller.tenant, subject }));
  return isPricedHere({ intent, dispatchedBy }) ? [...own, installationBudgets] : own;
}

/** The kernel calls the model itself, so that its own price table prices the call. */
function isPricedHere({ intent, dispatchedBy }: Pick<KnownCall, 'intent' | 'dispatchedBy'>): boolean {
  return intent.action === 'model.call' && dispatchedBy === 'kernel';
}

/** A destination that the kernel has refused already. */
function blockedFact({ blockedDestination: detail }: Read['call'], destination: Destination): Facts['egress'] | null {
  if (detail === undefined) return null;
  return { state: 'known', value: { destination: destination?.host ?? '', allowed: false, detail } };
}

function isClaimed(asker: Asker): boolean {
  return asker.dispatchedBy === 'kernel' && asker.isClaimed;
}
