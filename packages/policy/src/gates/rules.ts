import { deny, unavailable } from '../gate.ts';
import type { Gate, GateInput, GateResult } from '../gate.ts';
import type { RuleOutcome } from '../decision.ts';
import { MatchedCall } from '../call-globs.ts';
import { boundedBefore } from '../work.ts';
import { parseRuleOutcome } from '../rule-outcome.ts';

/** Tools that the workspace blocks are denied before any rule is evaluated. */
export const rules: Gate = (input) => {
  const { block } = input.facts;
  if (block.state === 'unavailable') return unavailable('rules');
  if (block.state === 'known' && block.value.tool_blocked !== false)
    return deny('TOOL_BLOCKED', 'A setting of the workspace blocks this tool.');
  const outcome = askEvaluator(input);
  if (outcome === null || !isOfTheseRules(outcome, input)) return unavailable('rules');
  switch (outcome.kind) {
    case 'allow':
      return { outcome: 'pass', rules: outcome.rules, reason: outcome.reason };
    case 'deny':
      return { outcome: 'deny', code: outcome.code, reason: outcome.reason, rules: outcome.rules };
    case 'escalate':
      return askFor(outcome);
  }
};

// The injected evaluator may throw, return a promise, or return an invalid value. All of these count as no result.
function askEvaluator({ policy, intent, facts, evaluate }: GateInput): ReturnType<typeof parseRuleOutcome> {
  // Stryker disable next-line ConditionalExpression: Without a policy, the policy gate has denied the call.
  if (policy === null) return null;
  const relations = facts.relationship.state === 'known' ? facts.relationship.value.relations : {};
  try {
    return parseRuleOutcome(evaluate(policy, intent, { now: facts.now, relations }));
  } catch {
    return null;
  }
}

/**
 * Checks the rules that an allowing or escalating outcome names. Each must be in this bundle, have that effect, and
 * cover this call.
 */
function isOfTheseRules({ kind, rules: ids }: RuleOutcome, { policy, intent }: GateInput): boolean {
  if (kind === 'deny') return true;
  // Stryker disable next-line ConditionalExpression: Without a policy, the policy gate has denied the call.
  if (policy === null) return false;
  const call = new MatchedCall(policy.index.globs, intent, boundedBefore());
  return ids.every((id) => {
    const rule = policy.byId.get(id)?.rule;
    return rule !== undefined && rule.effect === kind && call.isCoveredBy(rule.match);
  });
}

function askFor({
  rules: ids,
  reason,
  approval,
}: {
  rules: string[];
  reason: string;
  approval: NonNullable<GateInput['asks'][number]['approval']>;
}): GateResult {
  return { outcome: 'ask', rules: ids, ask: { code: 'APPROVAL_REQUIRED', reason, approval } };
}
