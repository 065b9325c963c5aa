import { ordinaryApproval, strictestApproval } from './approval-request.ts';
import type { ApprovalRequest } from './approval-request.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { RuleOutcome } from './decision.ts';
import type { ExpressionVariables } from './expression.ts';
import type { Intent } from './intent.ts';
import { IterationBudget } from './iteration-limit.ts';
import { matchingRules } from './rule-index.ts';
import type { CompiledRule } from './rule-index.ts';

export type RuleEnvironment = { now: string; relations: string[] };

/**
 * What the rules say: any deny wins, else any escalate, else any allow, else `NO_MATCHING_RULE`. A rule that matched but cannot
 * be evaluated (an error, a missing member, a value that is no boolean) denies with `POLICY_EVALUATION_ERROR`, so that no
 * argument can switch a rule off; guard optional members with `has(args.x)`. Pure; never throws for a compiled policy.
 */
export function evaluateRules(policy: CompiledPolicy, intent: Intent, environment: RuleEnvironment): RuleOutcome {
  return combine(matchingRules(policy.index, intent), intent, environment);
}

/** The rules that apply, already matched, in the order of the bundle. */
export function combine(matching: readonly CompiledRule[], intent: Intent, environment: RuleEnvironment): RuleOutcome {
  const variables = expressionVariables(intent, environment);
  const budget = new IterationBudget(variables);
  const applying: Record<'allow' | 'deny' | 'escalate' | 'failed', CompiledRule[]> = {
    allow: [],
    deny: [],
    escalate: [],
    failed: [],
  };
  for (const compiled of matching) {
    const holds = conditionHolds(compiled, variables, budget);
    if (holds === true) applying[compiled.rule.effect].push(compiled);
    if (holds === 'failed') applying.failed.push(compiled);
  }
  const { deny, failed, escalate, allow } = applying;
  if (deny.length > 0)
    return {
      kind: 'deny',
      code: 'POLICY_DENIED',
      rules: idsOf(deny),
      reason: reasonOf(deny, 'A rule denies the call.'),
    };
  if (failed.length > 0) return evaluationError(failed);
  if (escalate.length > 0) return escalation(escalate);
  if (allow.length > 0)
    return { kind: 'allow', rules: idsOf(allow), reason: reasonOf(allow, 'A rule allows the call.') };
  return { kind: 'deny', code: 'NO_MATCHING_RULE', rules: [], reason: 'No rule covers the call.' };
}

function expressionVariables(intent: Intent, { now, relations }: RuleEnvironment): ExpressionVariables {
  const { action, tool, resource, principal, tenant, session, args, effect_level, context } = intent;
  return {
    action,
    tool,
    resource,
    principal,
    tenant,
    session,
    args,
    effect_level,
    context,
    relations,
    now: new Date(now),
  };
}

function conditionHolds(
  { when }: CompiledRule,
  variables: ExpressionVariables,
  budget: IterationBudget,
): boolean | 'failed' {
  if (when === null) return true;
  // An invalid date compares false to everything, which would switch a deny rule off.
  if (when.reads.includes('now') && Number.isNaN(Number(variables.now))) return 'failed';
  if (!budget.spend(when)) return 'failed';
  try {
    const value = when.evaluate(variables);
    return typeof value === 'boolean' ? value : 'failed';
  } catch {
    return 'failed'; // the message may quote arguments and goes nowhere
  }
}

function evaluationError(failed: readonly CompiledRule[]): RuleOutcome {
  const rules = idsOf(failed);
  return {
    kind: 'deny',
    code: 'POLICY_EVALUATION_ERROR',
    rules,
    reason: `Rule ${rules.join(', ')} could not be evaluated.`,
  };
}

function escalation(rules: readonly CompiledRule[]): RuleOutcome {
  let approval: ApprovalRequest | null = null;
  for (const { rule } of rules) {
    const asked = rule.approval ?? ordinaryApproval;
    approval = approval === null ? asked : strictestApproval(approval, asked);
    if (approval === null) {
      return {
        kind: 'deny',
        code: 'POLICY_EVALUATION_ERROR',
        rules: idsOf(rules),
        reason: 'The rules ask for approvers that exclude each other.',
      };
    }
  }
  const reason = reasonOf(rules, 'A rule asks for an approval.');
  return { kind: 'escalate', rules: idsOf(rules), reason, approval: approval ?? ordinaryApproval };
}

function idsOf(rules: readonly CompiledRule[]): string[] {
  return rules.map(({ rule }) => rule.id);
}

function reasonOf(rules: readonly CompiledRule[], otherwise: string): string {
  return rules.find(({ rule }) => rule.reason !== undefined)?.rule.reason ?? otherwise;
}
