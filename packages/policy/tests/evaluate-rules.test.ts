import { describe, expect, it } from '@jest/globals';
import { evaluateRules, evaluateRulesWithin } from '../src/evaluate-rules.ts';
import { Work } from '../src/work.ts';
import { frozenNow, intentOf, policyOf } from './situation.ts';

const environment = { now: frozenNow, relations: {} };
const outcomeOf = (rules: object[], now = frozenNow) =>
  evaluateRules(policyOf(rules), intentOf(), { now, relations: {} });

describe('the combined result of rules', () => {
  it('is a denial that names all rules that cannot be evaluated', () => {
    expect(
      outcomeOf([
        { id: 'a', effect: 'deny', when: 'args.nothing == 1' },
        { id: 'b', effect: 'allow', when: 'args.nothing == 2' },
        { id: 'c', effect: 'allow' },
      ]),
    ).toEqual({
      ...{ kind: 'deny', code: 'POLICY_EVALUATION_ERROR', rules: ['a', 'b'] },
      reason: 'Rule a, b could not be evaluated.',
    });
  });

  it('is a denial if a rule reads an invalid time', () => {
    const rules = [
      { id: 'a', effect: 'allow' },
      { id: 'b', effect: 'deny', when: 'now > timestamp("2020-01-01T00:00:00Z")' },
    ];
    expect(outcomeOf(rules, 'no time')).toMatchObject({ code: 'POLICY_EVALUATION_ERROR', rules: ['b'] });
    expect(outcomeOf([{ id: 'a', effect: 'allow', when: 'size(args) < 9' }], 'no time')).toMatchObject({
      kind: 'allow',
    });
  });

  it('is a denial if the requested approvals exclude each other', () => {
    const asking = (id: string, approver: string) => ({ id, effect: 'escalate', approval: { approvers: [approver] } });
    expect(outcomeOf([asking('a', 'ann'), asking('b', 'bob')])).toEqual({
      ...{ kind: 'deny', code: 'POLICY_EVALUATION_ERROR', rules: ['a', 'b'] },
      reason: 'The rules ask for approvals that exclude each other.',
    });
  });

  it.each([
    ['allow', 'A rule allows the call.'],
    ['deny', 'A rule denies the call.'],
    ['escalate', 'A rule asks for an approval.'],
  ])('has the reason of the first rule that states one: %s', (effect, otherwise) => {
    const of = (...reasons: (string | undefined)[]) =>
      outcomeOf(
        reasons.map((reason, index) => ({ id: `r${index}`, effect, ...(reason === undefined ? {} : { reason }) })),
      ).reason;
    expect(of(undefined, 'the first', 'the second')).toBe('the first');
    expect(of(undefined)).toBe(otherwise);
  });
});

describe('the result of rules within a work limit', () => {
  const spent = (rules: object[], units = 1_000) => {
    const work = new Work(units);
    const outcome = evaluateRulesWithin(work, { policy: policyOf(rules), intent: intentOf(), environment });
    return { outcome, units: units - work.left };
  };

  it('is the same as without a limit', () => {
    const rules = [
      { id: 'z', effect: 'allow', when: 'args.path == "/notes.txt"' },
      { id: 'm', effect: 'allow', match: { tool: ['files.read'] } },
      { id: 'a', effect: 'deny', match: { tool: ['pay.*'] } },
      { id: 'b', effect: 'allow', match: { tool: ['files.*'] } },
    ];
    const { outcome } = spent(rules);
    expect(outcome).toEqual(outcomeOf(rules));
    expect(outcome?.rules).toEqual(['z', 'm', 'b']);
  });

  it.each<[string, object[], number]>([
    ['a rule without a match', [{ id: 'a', effect: 'allow' }], 1],
    ['an exact name', [{ id: 'a', effect: 'allow', match: { tool: ['files.read'] } }], 1 + (10 + 1) / 16],
    ['a pattern', [{ id: 'a', effect: 'allow', match: { tool: ['files.*'] } }], 1 + (10 + 6 + 1 + 6 + 1) / 16],
    ['a pattern that does not match', [{ id: 'a', effect: 'deny', match: { tool: ['pay.*'] } }], 1 + (10 + 4 + 1) / 16],
    ['a condition', [{ id: 'a', effect: 'allow', when: 'args.path == "/notes.txt"' }], 1 + 4 / 2],
    ['a loop over the arguments', [{ id: 'a', effect: 'allow', when: 'args.all(x, x == "path")' }], 1 + 5 / 2 + 10],
  ])('consumes exactly its cost: %s', (_what, rules, units) => {
    const cost = spent(rules);
    expect(cost.outcome).not.toBeNull();
    expect(cost.units).toBeCloseTo(units, 9);
    expect(spent(rules, units).outcome).not.toBeNull();
    expect(spent(rules, units - 0.01).outcome).toBeNull();
  });
});
