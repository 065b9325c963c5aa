import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, evaluateRules, evaluateRulesWithin, Work, verdictOfTrace } from '../src/index.ts';
import type { GateOutcome, PolicyRule } from '@countersign/contracts/governance-kernel';
import type { Facts, Intent } from '../src/index.ts';
import { combine } from '../src/evaluate-rules.ts';
import { matchesGlob } from '../src/glob.ts';
import { boundedBefore, decisionWork } from '../src/work.ts';
import { frozenNow, bundleOf, factsFor, grantFor, intentOf, knownFact, policyOf, viewer } from './situation.ts';

const environment = { now: frozenNow, relations: { viewer: true } };
const globs = fc.array(fc.constantFrom('tool.call', 'model.*', '*', 'files.read', 'files.*', 'web.?et', 'mail.send'), {
  minLength: 1,
  maxLength: 3,
});
const condition = fc.constantFrom(
  undefined,
  'true',
  'false',
  'args.amount > 100',
  'has(args.amount) && args.amount > 100',
  'principal == "agent-1"',
  'context.channel == "web"',
  'relations.viewer',
  'resource != null && resource.matches("^file:")',
);
const ruleBody = fc.record({
  effect: fc.constantFrom('allow', 'deny', 'escalate'),
  match: fc.record(
    { action: globs, tool: globs, principal: fc.constant(['agent-*']), effect_level: fc.constant(['E1', 'E2']) },
    { requiredKeys: [] },
  ),
  when: condition,
});
const ruleList = fc
  .array(ruleBody, { maxLength: 12 })
  .map((bodies) =>
    bodies.map(({ when, ...body }, index) => ({ id: `r${index}`, ...body, ...(when === undefined ? {} : { when }) })),
  );
/** Matches each pattern separately. */
function isCovered({ effect_level: levels, ...match }: PolicyRule['match'], intent: Intent): boolean {
  const members = Object.entries(match) as [keyof typeof match, string[]][]; // the names of its members
  const covers = (globs: readonly string[], text: string | null) =>
    text !== null && globs.some((glob) => matchesGlob(glob, text, boundedBefore()));
  return (
    levels?.includes(intent.effect_level) !== false && members.every(([name, globs]) => covers(globs, intent[name]))
  );
}

const anyIntent = fc
  .record({
    action: fc.constantFrom('tool.call', 'model.call'),
    tool: fc.constantFrom('files.read', 'web.get', 'mail.send', null),
    resource: fc.constantFrom('file:/a', 'http://b', null),
    principal: fc.constantFrom('agent-1', 'human'),
    effect_level: fc.constantFrom('E0' as const, 'E1' as const, 'E4' as const),
    args: fc.constantFrom({}, { amount: 5 }, { amount: 500 }, { amount: 'many' }),
    context: fc.constantFrom({}, { channel: 'web' }),
  })
  .map((call) => intentOf(call as Partial<Intent>)); // the union of literals widens to plain JSON
/** Copies through JSON, since structuredClone returns objects of a realm other than that of the test. */
function copyOf<Value>(value: Value): Value {
  const text = JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member));
  const revive = (_name: string, member: unknown) =>
    typeof member === 'string' && /^\d+n$/.test(member) ? BigInt(member.slice(0, -1)) : member;
  return JSON.parse(text, revive) as Value; // plain JSON and amounts by construction
}
const usesOfScope = { once: 1, 'uses:1': 1, 'uses:2': 2, 'uses:9999': 9999, session: 1e6, until: 1e7 };
const approvalTerms = fc
  .record({
    scope: fc.constantFrom(...(Object.keys(usesOfScope) as (keyof typeof usesOfScope)[])), // the keys of a literal
    timeout: fc.integer({ min: 2, max: 604_800 }),
    timelock: fc.constantFrom(1, 2, 3),
  })
  .filter(({ timelock, timeout }) => timelock < timeout);
/** An approval that was requested while no server listed the tool, as in these calls. */
const unpinned = { preconditions: { tool_definition_hash: null, budgets: null } };
const openTool = { registry: { state: 'not_applicable' } } as const;

const denial: GateOutcome = { gate: 'rules', outcome: 'deny', reason_code: 'POLICY_DENIED' };
const ask: GateOutcome = { gate: 'rules', outcome: 'escalate', reason_code: 'APPROVAL_REQUIRED' };
const passing: GateOutcome = { gate: 'budget', outcome: 'pass' };

describe('decide', () => {
  it('never changes to ALLOW when a deny rule is added', () => {
    fc.assert(
      fc.property(ruleList, ruleBody, anyIntent, (rules, { match, when }, intent) => {
        const denial = { id: 'extra', effect: 'deny', match, ...(when === undefined ? {} : { when }) };
        const before = policyOf(rules, [], { viewer });
        const after = policyOf([...rules, denial], [], { viewer });
        const verdictBefore = decide(before, intent, factsFor(before, openTool)).verdict;
        const verdictAfter = decide(after, intent, factsFor(after, openTool)).verdict;
        expect(verdictAfter === 'ALLOW' && verdictBefore !== 'ALLOW').toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('returns the same result within a work limit, or none', () => {
    fc.assert(
      fc.property(ruleList, anyIntent, fc.nat(400), (rules, intent, units) => {
        const policy = policyOf(rules, [], { viewer });
        const input = { policy, intent, environment };
        const whole = evaluateRules(policy, intent, environment);
        expect(evaluateRulesWithin(new Work(1_000_000), input)).toEqual(whole);
        expect([whole, null]).toContainEqual(evaluateRulesWithin(new Work(units), input));
        expect(evaluateRulesWithin(new Work(-1), input)).toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  it('returns the same result with and without the index', () => {
    fc.assert(
      fc.property(ruleList, anyIntent, (rules, intent) => {
        const policy = policyOf(rules, [], { viewer });
        const naive = policy.rules.filter(({ rule: { match } }) => isCovered(match, intent));
        expect(evaluateRules(policy, intent, environment)).toEqual(
          combine(naive, { intent, environment, work: decisionWork() }),
        );
      }),
      { numRuns: 300 },
    );
  });

  // These facts have no state, since they come with the call.
  const plain = ['now', 'demand', 'judged_hash'];
  const factNames = Object.keys(factsFor(null)).filter((name) => !plain.includes(name)) as (keyof Facts)[];
  it.each(factNames)('denies when "%s" is unavailable, whatever the other facts are', (name) => {
    fc.assert(
      fc.property(ruleList, anyIntent, fc.boolean(), (rules, intent, granted) => {
        const policy = policyOf([...rules, { id: 'all', effect: 'allow' }], [], { viewer });
        const approval = knownFact(granted ? grantFor(policy, intent, unpinned) : null);
        const facts = factsFor(policy, { ...openTool, approval, [name]: { state: 'unavailable', detail: 'down' } });
        const { verdict, reason_code, trace } = decide(policy, intent, facts);
        expect(verdict).toBe('DENY');
        expect(verdictOfTrace(trace)).toEqual({ verdict, reason_code });
      }),
      { numRuns: 50 },
    );
  });

  it('is deterministic, and its verdict follows from its trace', () => {
    fc.assert(
      fc.property(ruleList, anyIntent, fc.boolean(), (rules, intent, granted) => {
        const policy = policyOf(rules, [], { viewer });
        const facts = factsFor(policy, {
          ...openTool,
          approval: knownFact(granted ? grantFor(policy, intent, unpinned) : null),
        });
        const decision = decide(policy, intent, facts);
        expect(decide(policyOf(rules, [], { viewer }), copyOf(intent), copyOf(facts))).toEqual(decision);
        const settled = decision.trace.some(({ gate, outcome }) => gate === 'approval' && outcome === 'pass');
        const stop = decision.trace.find(({ outcome }) => outcome === 'deny' || (outcome === 'escalate' && !settled));
        const deciding = decision.trace.find(({ outcome }) => outcome === 'deny') ?? stop;
        expect(decision.reason_code).toBe(deciding?.reason_code ?? 'ALLOWED');
        expect(decision.consumes_approval).toBe(settled);
        const { verdict, reason_code } = decision;
        expect(verdictOfTrace(decision.trace)).toEqual({ verdict, reason_code });
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, GateOutcome[]]>([
    ['no gate', []],
    ['only gates that were not reached', [{ gate: 'rules', outcome: 'not_reached' }]],
    ['a gate that passes after one that denied', [denial, { gate: 'approval', outcome: 'pass' }]],
    ['a denial without a reason', [{ gate: 'rules', outcome: 'deny' }]],
    ['gates that were not reached after one that passed', [passing, { gate: 'approval', outcome: 'not_reached' }]],
    ['a gate that was reached after one that was not', [{ gate: 'rules', outcome: 'not_reached' }, passing]],
    ['an escalation without a result of the approval gate', [ask, { gate: 'approval', outcome: 'not_applicable' }]],
  ])('never produces a trace with %s', (_what, trace) => {
    expect(verdictOfTrace(trace)).toBeNull();
  });

  it('accepts an approval only if it grants no more than each request', () => {
    fc.assert(
      fc.property(fc.array(approvalTerms, { minLength: 1, maxLength: 3 }), approvalTerms, (asks, granted) => {
        const policy = policyOf(asks.map((approval, index) => ({ id: `ask-${index}`, effect: 'escalate', approval })));
        const approval = knownFact(grantFor(policy, intentOf(), { ...granted, ...unpinned }));
        const { verdict } = decide(policy, intentOf(), factsFor(policy, { ...openTool, approval }));
        const fits = asks.every(
          ({ scope, timeout, timelock }) =>
            usesOfScope[granted.scope] <= usesOfScope[scope] &&
            granted.timeout <= timeout &&
            granted.timelock >= timelock,
        );
        const lock = Math.max(...asks.map(({ timelock }) => timelock));
        const refusal = asks.every(({ timeout }) => lock < timeout) ? 'ESCALATE' : 'DENY';
        expect(verdict).toBe(fits ? 'ALLOW' : refusal);
      }),
      { numRuns: 300 },
    );
  });

  it('judges by a policy whose hash is the same for equal policies', () => {
    const rule = { id: 'a', effect: 'allow' };
    expect(policyOf([rule]).hash).toBe(policyOf([{ effect: 'allow', match: {}, id: 'a' }]).hash);
    expect(policyOf([rule]).hash).not.toBe(policyOf([{ ...rule, reason: 'other' }]).hash);
    expect(bundleOf([rule]).tests).toEqual([]);
  });
});
