import { describe, expect, it } from '@jest/globals';
import { shadowRulesMax } from '@countersign/contracts/governance-kernel';
import { hashOf, recordOf, type Members } from './chain-fixture.ts';
import { verified } from './ceremony-fixture.ts';

const says = (matched: number, rules_omitted: number): Members => ({
  ...{ lane: 'canary', policy_hash: hashOf('draft'), verdict: 'ALLOW', reason_code: 'ALLOWED' },
  ...{ matched_rules: Array.from({ length: matched }, (_, index) => `rule-${index}`), rules_omitted, fault: null },
});
const ofDraft =
  (...shadow: Members[]) =>
  () =>
    verified(recordOf(1, { shadow }));

describe('the matched rules of a draft', () => {
  it.each([
    [0, 0],
    [1, 0],
    [shadowRulesMax, 0],
    [shadowRulesMax, 1],
  ])('are valid with %i listed and %i omitted', (matched, omitted) => {
    expect(ofDraft(says(matched, omitted))).not.toThrow();
  });

  it.each([
    [0, 1],
    [shadowRulesMax - 1, 1],
    [shadowRulesMax - 1, 40],
  ])('may be omitted only when the list is full: %i listed and %i omitted', (matched, omitted) => {
    expect(ofDraft(says(matched, omitted))).toThrow('the lane canary omits rules although there is room for more');
  });
});

describe('a draft that failed', () => {
  const failed = { ...says(0, 0), verdict: null, reason_code: null, fault: 'failed' };

  it('contains no other result', () => {
    expect(ofDraft(failed)).not.toThrow();
    const statements: Members[] = [
      { verdict: 'ALLOW' },
      { reason_code: 'ALLOWED' },
      { matched_rules: ['mail'] },
      { rules_omitted: 1 },
    ];
    for (const more of statements)
      expect(ofDraft({ ...failed, ...more })).toThrow(
        'the lane canary must have either a verdict with its reason, or a fault',
      );
  });
});

describe('the shadow lanes of a decision', () => {
  it('are in their order, each at most once', () => {
    const [before, behind] = [says(1, 0), { ...says(1, 0), lane: 'later' }];
    expect(ofDraft(before, behind)).not.toThrow();
    for (const wrong of [
      [behind, before],
      [before, before],
    ])
      expect(ofDraft(...wrong)).toThrow('the lanes must be in order, each once');
  });
});
