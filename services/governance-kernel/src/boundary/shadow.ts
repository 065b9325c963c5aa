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
import { lackedCeiling, type CeilingsReader } from '../policy/policy-ceilings.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { isSameLane, type LoadedLane, type ShadowDrafts } from '../policy/shadow-drafts.ts';
import type { LaneRow } from '../policy/shadow-lanes.ts';
import { draftFact, draftRelations, type AskedRelations, type DraftRelations } from './shadow-relations.ts';
import type { ToolResolution } from '../registry/tool-resolver.ts';
import type { KnownCall } from './known-call.ts';

export type ShadowSource = Pick<ShadowDrafts, 'current' | 'reload' | 'isSuspended' | 'noteFailure' | 'noteSuccess'>;

/** Other drafts are in force than those that were asked. */
export type ShadowsChanged = { kind: 'shadows_changed' };

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

/** About five milliseconds, for all drafts of a decision together: each has its share, and what it leaves is for those after it. */
const workMax = 40_000;

type Asked = {
  call: NamedCall;
  intent: SealedIntent;
  resolution: ToolResolution | null;
  now: Instant;
  relations: AskedRelations;
};

/** Asks the drafts ahead of the batch, like the rules of the active policy. Never throws: no draft stops a decision. */
export function askDrafts(source: ShadowSource, lanes: readonly LoadedLane[], asked: Asked): readonly ShadowAnswer[] {
  if (lanes.length === 0) return [];
  let left = workMax;
  return lanes.map((lane, nth) => {
    const share = left / (lanes.length - nth);
    const work = new Work(share);
    const answer = askDraft(source, lane, { ...asked, work });
    left -= share - work.left;
    return answer;
  });
}

function askDraft(source: ShadowSource, lane: LoadedLane, asked: Asked & { work: Work }): ShadowAnswer {
  const { row, policy } = lane;
  if (source.isSuspended(lane)) return { row, fault: 'suspended' };
  if (policy === null) return { row, fault: 'not_ready' };
  const tenant = asked.intent.tenant as TenantId; // of a sealed intent
  try {
    const answer = outcomeOf(policy, asked);
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
  { call, intent, resolution, now, work, relations: asked }: Asked & { work: Work },
) {
  const seen = underPolicy(call, intent, { resolution, policy, work });
  const relations = draftRelations(policy, seen.intent, { ...asked, work });
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
  /** The policy that the decision is made by. */
  active: LoadedPolicy | null;
  validateArguments: ArgumentValidator;
  destination: Destination;
  dispatchedBy: KnownCall['dispatchedBy'];
  /** The grant that the decision looks at. */
  grant: HeldGrant | null;
};

/** The verdict of each lane in force, on the facts of the decision. */
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
 * The facts with the draft as the active policy: signed and fresh, and an approval under the active one given under it.
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

/** Arguments are held against a schema once, however many policies are asked. */
export function validatedOnce(validate: ArgumentValidator): ArgumentValidator {
  let known: { schema: unknown; args: unknown; fault: string | null } | null = null;
  return (schema, args) => {
    if (known?.schema !== schema || known.args !== args) known = { schema, args, fault: validate(schema, args) };
    return known.fault;
  };
}

/** Are these the lanes that were asked? */
export function areAsked(lanes: readonly LaneRow[], answers: readonly ShadowAnswer[]): boolean {
  return (
    lanes.length === answers.length &&
    lanes.every((row, nth) => {
      const asked = answers[nth];
      return asked !== undefined && isSameLane(asked.row, row);
    })
  );
}
