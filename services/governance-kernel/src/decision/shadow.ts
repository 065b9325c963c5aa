import type { Instant, TenantId } from '@countersign/contracts';
import { shadowRulesMax, type ShadowVerdict } from '@countersign/contracts/governance-kernel';
import {
  decide,
  evaluateRulesWithin,
  egressFact,
  provenanceFact,
  sandboxFact,
  type HeldGrant,
  Work,
  type ArgumentValidator,
  type CompiledPolicy,
  type Destination,
  type evaluateRules,
  type Facts,
  type Intent,
} from '@countersign/policy';
import type { NamedCall } from '../call/governed-call.ts';
import { underPolicy, type SealedIntent } from '../call/normalise.ts';
import { lackedCeiling, type CeilingsReader } from '../controls/policy/policy-ceilings.ts';
import type { LoadedPolicy } from '../controls/policy/loaded-policy.ts';
import { isSameLane, type LoadedLane, type ShadowDrafts } from '../controls/policy/shadow-drafts.ts';
import { shadowLanes, type LaneRow } from '../controls/policy/shadow-lanes.ts';
import { draftFact, draftRelations, type AskedRelations, type DraftRelations } from './shadow-relations.ts';
import type { ToolResolution } from '../registry/tool-resolver.ts';
import type { CachedState } from '../ledger/cached-state.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { KnownCall, PreparedCall } from './known-call.ts';

export type ShadowSource = Pick<ShadowDrafts, 'current' | 'reload' | 'isSuspended' | 'noteFailure' | 'noteSuccess'>;

type RuleOutcome = ReturnType<typeof evaluateRules>;
type Fault = NonNullable<ShadowVerdict['fault']>;

/** The verdict of a draft's rules on a call, or the reason why there is none. */
export type ShadowAnswer = { readonly row: LaneRow } & (
  | { readonly fault: Fault }
  | {
      readonly policy: CompiledPolicy;
      readonly intent: Intent;
      readonly unfit: string | null;
      readonly outcome: RuleOutcome;
      readonly relations: DraftRelations;
    }
);

/**
 * The work of all drafts of a decision together, about five milliseconds. Each draft may use an equal part of it, and
 * leaves the unused rest to the next ones.
 */
const workMax = 40_000;

type Input = {
  call: NamedCall;
  intent: SealedIntent;
  resolution: ToolResolution | null;
  now: Instant;
  relations: AskedRelations;
};

/**
 * Evaluates the drafts before the batch, like the rules of the active policy. Never throws, since no draft stops a
 * decision.
 */
export function askDrafts(source: ShadowSource, lanes: readonly LoadedLane[], input: Input): readonly ShadowAnswer[] {
  if (lanes.length === 0) return [];
  let remaining = workMax;
  return lanes.map((lane, nth) => {
    const share = remaining / (lanes.length - nth);
    const work = new Work(share);
    const answer = askDraft(source, lane, { ...input, work });
    remaining -= share - work.left;
    return answer;
  });
}

function askDraft(source: ShadowSource, lane: LoadedLane, request: Input & { work: Work }): ShadowAnswer {
  const { row, policy } = lane;
  if (source.isSuspended(lane)) return { row, fault: 'suspended' };
  if (policy === null) return { row, fault: 'not_ready' };
  const tenant = request.intent.tenant as TenantId; // the tenant of a sealed intent comes from the caller
  try {
    const answer = outcomeOf(policy, request);
    if (answer === null) {
      source.noteFailure(tenant, lane);
      return { row, fault: 'work_exceeded' };
    }
    if (answer === 'not_asked') return { row, fault: 'not_ready' };
    source.noteSuccess(lane);
    return { row, policy, ...answer };
  } catch {
    source.noteFailure(tenant, lane);
    return { row, fault: 'failed' };
  }
}

function outcomeOf(
  policy: CompiledPolicy,
  { call, intent, resolution, now, work, relations: input }: Input & { work: Work },
) {
  const seen = underPolicy(call, intent, { resolution, policy, work });
  const relations = draftRelations(policy, seen.intent, { ...input, work });
  if (work.isSpent) return null;
  if (relations === 'not_asked') return relations;
  const environment = { now, relations: relations?.relations ?? {} };
  const outcome = evaluateRulesWithin(work, { policy, intent: seen.intent, environment });
  return outcome === null ? null : { intent: seen.intent, unfit: seen.fault, outcome, relations };
}

type Deciding = {
  tenant: TenantId;
  batch: CeilingsReader;
  facts: Facts;
  /** The policy of the decision. */
  active: LoadedPolicy | null;
  validateArguments: ArgumentValidator;
  destination: Destination;
  dispatchedBy: KnownCall['dispatchedBy'];
  /** The sandbox grant of the decision. */
  grant: HeldGrant | null;
};

/** The verdict of each current lane on the facts of the decision. */
export function shadowVerdicts(
  lanes: readonly LaneRow[],
  answers: readonly ShadowAnswer[],
  deciding: Deciding,
): ShadowVerdict[] {
  return lanes.map((row) => {
    const answer = answers.find((one) => isSameLane(one.row, row)) ?? { row, fault: 'not_ready' as const };
    return 'fault' in answer ? silent(answer.row, answer.fault) : verdictOf(answer, deciding);
  });
}

function silent({ lane, hash }: LaneRow, fault: Fault): ShadowVerdict {
  return { lane, policy_hash: hash, verdict: null, reason_code: null, matched_rules: [], rules_omitted: 0, fault };
}

function verdictOf(answer: Exclude<ShadowAnswer, { fault: Fault }>, deciding: Deciding): ShadowVerdict {
  const { row, policy, intent, outcome } = answer;
  const facts = factsUnder(answer, deciding);
  const { validateArguments } = deciding;
  const decision = decide(policy, intent, facts, () => outcome, { validateArguments });
  const { verdict, reason_code, matched_rules: rules } = decision;
  return {
    ...{ lane: row.lane, policy_hash: row.hash, verdict, reason_code },
    matched_rules: rules.slice(0, shadowRulesMax),
    rules_omitted: Math.max(0, rules.length - shadowRulesMax),
    fault: null,
  };
}

/**
 * The facts with the draft as the active policy: signed and fresh, and an approval under the active policy counts as
 * given under the draft.
 */
function factsUnder(
  { policy, row, intent, unfit, relations }: Exclude<ShadowAnswer, { fault: Fault }>,
  { facts, tenant, batch, active, destination, dispatchedBy, grant }: Deciding,
): Facts {
  const { approval } = facts;
  const carried =
    approval.state === 'known' && approval.value !== null && approval.value.policy_hash === active?.hash
      ? { state: 'known' as const, value: { ...approval.value, policy_hash: row.hash } }
      : approval;
  const signed = { epoch: active?.epoch ?? 0, signature_valid: true, is_newest: true, age_ms: 0, age_max_ms: 0 };
  const missing_ceiling = lackedCeiling(batch, tenant, policy);
  return {
    ...facts,
    request: { state: 'known', value: { fault: unfit } },
    policy: { state: 'known', value: { hash: row.hash, ...signed, missing_ceiling } },
    sandbox: facts.sandbox.state === 'unavailable' ? facts.sandbox : sandboxFact(policy, intent, grant),
    provenance:
      dispatchedBy === 'kernel' ? facts.provenance : provenanceFact(policy, intent, { dispatchedBy, isClaimed: false }),
    egress: facts.egress.state === 'unavailable' ? facts.egress : egressFact(policy, destination),
    relationship: draftFact(relations, facts.relationship),
    approval: carried,
  };
}

/** Validates arguments against a schema once, for all policies. */
export function validatedOnce(validate: ArgumentValidator): ArgumentValidator {
  let existing: { schema: unknown; args: unknown; fault: string | null } | null = null;
  return (schema, args) => {
    if (existing?.schema !== schema || existing.args !== args)
      existing = { schema, args, fault: validate(schema, args) };
    return existing.fault;
  };
}

/** The drafts that are evaluated beside the policy. */
export function currentDrafts(source: ShadowSource): CachedState<TenantId, readonly LoadedLane[], PreparedCall> {
  return {
    name: 'The drafts in the shadow lanes',
    current: (tenant) => source.current(tenant),
    isCurrent: (batch, { call, shadows, acceptsShadows }) =>
      acceptsShadows || areAsked(lanesIn(batch, call.caller.tenant), shadows),
    reload: ({ call }) => source.reload(call.caller.tenant),
  };
}

export function lanesIn(batch: LedgerBatch, tenant: TenantId): readonly LaneRow[] {
  return batch.row(shadowLanes, tenant)?.lanes ?? noLanes;
}

const noLanes: readonly never[] = [];

/** Whether these are the lanes that were evaluated. */
export function areAsked(lanes: readonly LaneRow[], answers: readonly ShadowAnswer[]): boolean {
  return (
    lanes.length === answers.length &&
    lanes.every((row, nth) => {
      const input = answers[nth];
      return input !== undefined && isSameLane(input.row, row);
    })
  );
}
