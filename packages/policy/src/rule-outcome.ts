import { PolicyRule } from '@countersign/contracts/governance-kernel';
import type { RuleOutcome } from './decision.ts';

const denyCodes = ['POLICY_DENIED', 'NO_MATCHING_RULE', 'POLICY_EVALUATION_ERROR', 'PDP_UNAVAILABLE'] as const;

/** `null` for a value that is not an outcome. Promises, and an allow or escalation without a rule, are not outcomes. */
export function parseRuleOutcome(value: unknown): RuleOutcome | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, rules, reason, code, approval } = value as Record<string, unknown>; // each member is checked below
  if (!isStrings(rules) || typeof reason !== 'string') return null;
  if (kind === 'allow') return rules.length === 0 ? null : { kind, rules, reason };
  if (kind === 'deny') {
    const listed = denyCodes.find((candidate) => candidate === code);
    return listed === undefined ? null : { kind, rules, reason, code: listed };
  }
  if (kind !== 'escalate' || rules.length === 0) return null;
  const request = PolicyRule.shape.approval.safeParse(approval).data;
  return request === undefined ? null : { kind, rules, reason, approval: request };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
