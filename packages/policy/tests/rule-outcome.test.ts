import { describe, expect, it } from '@jest/globals';
import { parseRuleOutcome } from '../src/rule-outcome.ts';
import { ordinaryApproval } from '../src/approval-request.ts';

const allow = { kind: 'allow', rules: ['a'], reason: 'r' };
const deny = { kind: 'deny', rules: [], reason: 'r', code: 'NO_MATCHING_RULE' };
const escalate = { kind: 'escalate', rules: ['a'], reason: 'r', approval: ordinaryApproval };

describe('what an evaluator of rules answers', () => {
  it.each([
    allow,
    escalate,
    ...['POLICY_DENIED', 'NO_MATCHING_RULE', 'POLICY_EVALUATION_ERROR', 'PDP_UNAVAILABLE'].map((code) => ({
      ...deny,
      code,
    })),
  ])('is an outcome: %j', (outcome) => {
    expect(parseRuleOutcome({ ...outcome, more: 1 })).toEqual(outcome);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['nothing', undefined],
    ['a text', 'allow'],
    ['a promise', Promise.resolve(allow)],
    ['an allow without a rule', { ...allow, rules: [] }],
    ['an allow without a reason', { ...allow, reason: undefined }],
    ['rules that are no list', { ...allow, rules: 'a' }],
    ['a rule that has no name', { ...allow, rules: ['a', 1] }],
    ['a denial without a code', { ...deny, code: undefined }],
    ['a denial with the code of another gate', { ...deny, code: 'BUDGET_EXCEEDED' }],
    ['an escalation without a rule', { ...escalate, rules: [] }],
    ['an escalation without an approval', { ...escalate, approval: undefined }],
    ['an escalation with a broken approval', { ...escalate, approval: { ...ordinaryApproval, quorum: 0 } }],
    ['an unknown kind', { ...escalate, kind: 'ask' }],
  ])('is none: %s', (_what, value) => {
    expect(parseRuleOutcome(value)).toBeNull();
  });
});
