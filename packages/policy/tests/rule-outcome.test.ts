import { describe, expect, it } from '@jest/globals';
import { parseRuleOutcome } from '../src/rule-outcome.ts';
import { ordinaryApproval } from '../src/approval-request.ts';

const allow = { kind: 'allow', rules: ['a'], reason: 'r' };
const deny = { kind: 'deny', rules: [], reason: 'r', code: 'NO_MATCHING_RULE' };
const escalate = { kind: 'escalate', rules: ['a'], reason: 'r', approval: ordinaryApproval };

describe('the result of an evaluator', () => {
  it.each([
    allow,
    escalate,
    ...['POLICY_DENIED', 'NO_MATCHING_RULE', 'POLICY_EVALUATION_ERROR', 'PDP_UNAVAILABLE'].map((code) => ({
      ...deny,
      code,
    })),
  ])('is a valid outcome: %j', (outcome) => {
    expect(parseRuleOutcome({ ...outcome, more: 1 })).toEqual(outcome);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a text', 'allow'],
    ['a promise', Promise.resolve(allow)],
    ['an allow without a rule', { ...allow, rules: [] }],
    ['an allow without a reason', { ...allow, reason: undefined }],
    ['rules that are not a list', { ...allow, rules: 'a' }],
    ['a rule name that is not a text', { ...allow, rules: ['a', 1] }],
    ['a denial without a code', { ...deny, code: undefined }],
    ['a denial with the code of another gate', { ...deny, code: 'BUDGET_EXCEEDED' }],
    ['an escalation without a rule', { ...escalate, rules: [] }],
    ['an escalation without an approval', { ...escalate, approval: undefined }],
    ['an escalation with a broken approval', { ...escalate, approval: { ...ordinaryApproval, quorum: 0 } }],
    ['an unknown kind', { ...escalate, kind: 'ask' }],
  ])('is not a valid outcome: %s', (_what, value) => {
    expect(parseRuleOutcome(value)).toBeNull();
  });
});
