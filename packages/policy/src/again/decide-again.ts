import type { ReasonCode, Verdict } from '@countersign/contracts';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { ArgumentValidator } from '../argument-validator.ts';
import type { CompiledPolicy } from '../compile-policy.ts';
import { decide } from '../decide.ts';
import { restoredIntent } from '../replay.ts';
import { effectsAgain } from './effects-again.ts';
import { factsAgain } from './facts-again.ts';
import { gatesAgain } from './gates-again.ts';
import type { Again, RecordedPolicy } from './recorded-call.ts';
import { originOf } from './recorded-call.ts';

export type DecidedAgain =
  | { kind: 'decided'; verdict: Verdict; reason_code: ReasonCode; matched_rules: string[] }
  | { kind: 'UNREPLAYABLE'; missing: string[] };

export type Under = {
  draft: CompiledPolicy;
  /** The policy of the record: `none` when no bundle was active, `unknown` when the bundle is no longer available. */
  recorded: RecordedPolicy;
  /** Canonical texts of the current ceilings of the tenant. */
  ceilings: readonly string[];
};

/**
 * The decision on the call of this record if `draft` had been the active policy, signed and fresh. Everything else is
 * as sealed: fences, identity, registry, budgets and time. A consumed approval counts if the draft requests exactly the
 * same approval.
 *
 * A call may have several possible effects under the draft, since a record contains only the highest declared effect. A
 * decision is returned only if all of them lead to the same reason code.
 *
 * The record must be verified before. Pure, and never throws for a verified record of the kind `decision`.
 *
 * @example decideAgain(record, { draft, recorded, ceilings: [] }) // { kind: 'decided', verdict: 'DENY', … }
 */
export function decideAgain(record: BoundaryRecord, under: Under): DecidedAgain {
  const effects = effectsAgain(record, under);
  const decided: Extract<DecidedAgain, { kind: 'decided' }>[] = [];
  const unknown = new Set<string>();
  for (const effect_level of effects) {
    const answer = decideWith(record, { ...under, effect_level });
    if (answer.kind === 'decided') decided.push(answer);
    else for (const field of answer.missing) unknown.add(field);
  }
  if (unknown.size > 0) return { kind: 'UNREPLAYABLE', missing: [...unknown].sort() };
  // Each reason belongs to one verdict.
  const reasons = new Set(decided.map(({ reason_code: reason }) => reason));
  const [first] = decided;
  // Stryker disable next-line ConditionalExpression: A reason always has a decision.
  return first !== undefined && reasons.size === 1 ? first : { kind: 'UNREPLAYABLE', missing: ['effect_level'] };
}

function decideWith(
  record: BoundaryRecord,
  { draft, recorded, ceilings, effect_level }: Under & Pick<BoundaryRecord['intent'], 'effect_level'>,
): DecidedAgain {
  const intentThen = restoredIntent(record);
  const intent = Object.freeze({ ...intentThen, effect_level });
  const missing = new Set<string>();
  const again: Again = {
    record,
    draft,
    recorded,
    ceilings,
    sealed: intentThen,
    intent,
    origin: originOf(record),
    missing,
  };
  const decision = decide(draft, intent, factsAgain(again), undefined, {
    table: gatesAgain(again),
    validateArguments: validatedBefore,
  });
  if (missing.size > 0) return { kind: 'UNREPLAYABLE', missing: [...missing] };
  const { verdict, reason_code, matched_rules } = decision;
  return { kind: 'decided', verdict, reason_code, matched_rules };
}

/** Arguments were checked when the call was made. The record contains neither the arguments nor their schema. */
// Stryker disable next-line ArrowFunction,StringLiteral: The arguments gate reads the record, and calls no validator.
const validatedBefore: ArgumentValidator = () => 'the arguments are not in the record';
