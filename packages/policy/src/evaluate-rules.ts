import { ordinaryApproval, strictestApproval } from './approval-request.ts';
import type { ApprovalRequest } from './approval-request.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { RuleOutcome } from './decision.ts';
import type { RuleVariable } from './expression-syntax.ts';
import type { Intent } from './intent.ts';
import { IterationBudget } from './iteration-limit.ts';
import { matchingRules } from './rule-index.ts';
import type { CompiledRule } from './rule-index.ts';
import { decisionWork, type Work } from './work.ts';

/** `relations`: the declared relations and whether each holds. A relation that could not be queried is absent. */
export type RuleEnvironment = { now: string; relations: Readonly<Record<string, boolean>> };

/**
 * The result of the rules: any deny wins, else any escalate, else any allow, else `NO_MATCHING_RULE`. A matching rule
 * that cannot be evaluated denies with `POLICY_EVALUATION_ERROR`: an error, a missing member, or a value that is not a
 * boolean. No argument can therefore switch a rule off. Guard optional members with `has(args.x)`. If matching alone
 * exceeds `work`, the call is denied with the same code. Pure, and never throws for a compiled policy.
 */
export function evaluateRules(
  policy: CompiledPolicy,
  intent: Intent,
  environment: RuleEnvironment,
  work = decisionWork(),
): RuleOutcome {
  const matching = matchingRules(policy.index, intent, work);
  return work.isSpent ? tooMuchWork : combine(matching, { intent, environment, work });
}

const tooMuchWork: RuleOutcome = {
  kind: 'deny',
  code: 'POLICY_EVALUATION_ERROR',
  rules: [],
  reason: 'The rules exceed the work limit of one decision.',
};

/**
 * Like {@link evaluateRules}, with a lower limit of work than a decision has. `null` when the rules exceed this limit.
 */
export function evaluateRulesWithin(
  work: Work,
  { policy, intent, environment }: { policy: CompiledPolicy; intent: Intent; environment: RuleEnvironment },
): RuleOutcome | null {
  const outcome = evaluateRules(policy, intent, environment, work);
  return work.isSpent ? null : outcome;
}

/** Units of work for each node in the syntax tree of a condition. */
const nodeCost = 0.5;

type Judging = { intent: Intent; environment: RuleEnvironment; work: Work };

/** Combines the matching rules, which are in the order of the bundle. */
export function combine(matching: readonly CompiledRule[], { intent, environment, work }: Judging): RuleOutcome {
  const variables = expressionVariables(intent, environment);
  const { action, tool, resource, principal, tenant, session, args, context, relations } = variables;
  const ofAnySize = [action, tool, resource, principal, tenant, session, args, context, relations];
  const budget = new IterationBudget(ofAnySize, work);
  const applying: Record<'allow' | 'deny' | 'escalate' | 'failed', CompiledRule[]> = {
    allow: [],
    deny: [],
    escalate: [],
    failed: [],
  };
  for (const compiled of matching) {
    const ownCost = (compiled.when?.size ?? 0) * nodeCost;
    const holds = work.take(ownCost) ? conditionHolds(compiled, variables, budget) : 'failed';
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

type RuleVariables = Record<RuleVariable, unknown>;

function expressionVariables(intent: Intent, { now, relations }: RuleEnvironment): RuleVariables {
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

function conditionHolds({ when }: CompiledRule, variables: RuleVariables, budget: IterationBudget): boolean | 'failed' {
  if (when === null) return true;
  // An invalid date makes every comparison false, which would switch a deny rule off.
  if (when.reads.includes('now') && Number.isNaN(Number(variables.now))) return 'failed';
  if (!budget.spend(when)) return 'failed';
  try {
    const value = when.evaluate(variables, budget.work);
    return typeof value === 'boolean' ? value : 'failed';
  } catch {
    return 'failed'; // the message may quote arguments and is not returned
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
    const terms = rule.approval ?? ordinaryApproval;
    approval = approval === null ? terms : strictestApproval(approval, terms);
    if (approval === null) {
      return {
        kind: 'deny',
        code: 'POLICY_EVALUATION_ERROR',
        rules: idsOf(rules),
        reason: 'The rules ask for approvals that exclude each other.',
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
