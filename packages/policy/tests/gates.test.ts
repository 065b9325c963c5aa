import { describe, expect, it } from '@jest/globals';
import { gateOrder, reasonCodes } from '@countersign/contracts';
import type { GateName, ReasonCode } from '@countersign/contracts';
import { decide, evaluateRules, failClosedCodes, gates } from '../src/index.ts';
import type { Facts } from '../src/index.ts';
import { allowing, asking, grant, intent, situations, unavailable } from './gate-situations.ts';
import { frozenNow, budgetOf, factsFor, grantFor, intentOf, knownFact, policyOf, viewer } from './situation.ts';

describe('gates', () => {
  it.each(situations)('answers $code when $when', ({ code, facts = {}, call = {}, policy = allowing, evaluate }) => {
    const decision = decide(policy, intentOf(call), { ...factsFor(policy), ...facts }, evaluate);
    expect(decision.reason_code).toBe(code);
    expect(decision.verdict).toBe(reasonCodes[code].verdict);
    expect(decision.trace.map(({ gate }) => gate)).toEqual(gateOrder);
    expect(decision.reason).toMatch(/^\S+ .*\S$/); // words for people, whichever
    const judged = decision.trace.findLast(({ outcome }) => outcome !== 'not_reached' && outcome !== 'not_applicable');
    if (decision.verdict !== 'ALLOW') expect(judged).toMatchObject({ reason_code: code, detail: decision.reason });
    else expect(judged).not.toHaveProperty('reason_code');
  });

  const judgeEveryCall = new Set<GateName>(['request', 'fence', 'policy', 'identity']);
  it.each(gateOrder)('has nothing to judge at the gate "%s", or judges every call', (gate) => {
    const factOf: Partial<Record<GateName, keyof Facts>> = { arguments: 'registry', rules: 'block', budget: 'budgets' };
    const facts = factsFor(allowing, { [factOf[gate] ?? gate]: { state: 'not_applicable' } });
    const { verdict, reason_code, trace } = decide(allowing, intent, facts);
    if (judgeEveryCall.has(gate)) expect([verdict, reason_code]).toEqual(['DENY', failClosedCodes[gate]]);
    else expect(verdict).toBe('ALLOW');
    const expected = { rules: 'pass' }[gate as string] ?? (judgeEveryCall.has(gate) ? 'deny' : 'not_applicable');
    expect(trace.find((entry) => entry.gate === gate)?.outcome).toBe(expected);
  });

  it('answers by itself where another would have ended the cycle before', () => {
    const input = { policy: allowing, intent, evaluate: evaluateRules, validateArguments: () => null, asks: [] };
    const unlisted = knownFact({ server_id: 'files', state: 'approved' as const, tool: null });
    const facts = factsFor(allowing, { registry: unlisted });
    expect(gates.arguments({ ...input, facts })).toMatchObject({ outcome: 'deny', code: 'SCHEMA_VIOLATION' });
  });

  it('names the rules that spoke, and what an approval satisfied', () => {
    const frozen = [
      { scope: 'tenant:a', level: 'tenant', kind: 'freeze', epoch: 1, reason: 'r', calls_remaining: null },
    ];
    expect(decide(allowing, intent, factsFor(allowing, { fence: knownFact(frozen as never) })).matched_rules).toEqual(
      [],
    );
    const { trace, verdict, consumes_approval } = decide(asking, intent, factsFor(asking, grant({})));
    expect([verdict, consumes_approval]).toEqual(['ALLOW', true]);
    expect(trace.at(-1)).toEqual({
      ...{ gate: 'approval', outcome: 'pass', detail: 'satisfies APPROVAL_REQUIRED' },
    });
    for (const { outcome, ...told } of decide(allowing, intent, factsFor(allowing)).trace)
      expect([outcome, Object.keys(told)]).toEqual([outcome, ['gate']]);
  });

  it('returns the reason of the denial to the requester', () => {
    const facts = factsFor(asking, grant({ state: 'denied', rejection_reason: 'not today' }));
    expect(decide(asking, intent, facts).reason).toMatch(/: not today$/);
  });

  it('covers every reason code', () => {
    const covered = new Set(situations.map(({ code }) => code));
    expect(Object.keys(reasonCodes).filter((code) => !covered.has(code as ReasonCode))).toEqual([]);
  });

  it('names the gates after a denial as not reached', () => {
    const { trace } = decide(allowing, intent, factsFor(allowing, { scopes: unavailable }));
    const outcomes = trace.map(({ outcome }) => outcome);
    expect(outcomes.slice(0, 7)).toEqual(Array(7).fill('pass'));
    expect(trace[7]).toMatchObject({ gate: 'scopes', outcome: 'deny', reason_code: 'INSUFFICIENT_SCOPE' });
    expect(outcomes.slice(8)).toEqual(Array(6).fill('not_reached'));
  });

  it('keeps a satisfied escalation visible and uses up its grant', () => {
    const decision = decide(asking, intent, factsFor(asking, { approval: knownFact(grantFor(asking, intent)) }));
    expect(decision).toMatchObject({ verdict: 'ALLOW', consumes_approval: true, matched_rules: ['ask'] });
    expect(decision.trace.find(({ gate }) => gate === 'rules')).toMatchObject({
      outcome: 'escalate',
      reason_code: 'APPROVAL_REQUIRED',
    });
    expect(decision.trace.find(({ gate }) => gate === 'approval')).toMatchObject({ outcome: 'pass' });
  });

  it('does not use up a grant that nothing asked for', () => {
    const decision = decide(allowing, intent, factsFor(allowing, { approval: knownFact(grantFor(allowing, intent)) }));
    expect(decision).toMatchObject({ verdict: 'ALLOW', consumes_approval: false });
  });

  it('asks for the strictest of several approvals', () => {
    const policy = policyOf([
      {
        id: 'one',
        effect: 'escalate',
        approval: {
          quorum: 2,
          timeout: 900,
          scope: 'session',
          approvers: ['ann', 'bob'],
          timelock: 59,
          unchanged: ['budgets'],
        },
      },
      { id: 'two', effect: 'escalate', approval: { quorum: 1, timeout: 60, scope: 'uses:3', approvers: ['bob'] } },
    ]);
    const budgets = knownFact([budgetOf({ approval_required_above_minor: 0 })]);
    const { approval_request, reason_code } = decide(policy, intent, factsFor(policy, { budgets }));
    expect(reason_code).toBe('APPROVAL_REQUIRED');
    expect(approval_request).toEqual({
      quorum: 2,
      timeout: 60,
      scope: 'once',
      approvers: ['bob'],
      timelock: 59,
      unchanged: ['budgets'],
    });
  });

  it.each([
    ['approvers', { approvers: ['ann'] }, { approvers: ['bob'] }],
    ['time lock and timeout', { timelock: 60 }, { timeout: 60 }],
  ])('denies instead of requesting approval when the %s of two rules exclude each other', (_what, one, two) => {
    const policy = policyOf([
      { id: 'one', effect: 'escalate', approval: one },
      { id: 'two', effect: 'escalate', approval: two },
    ]);
    expect(decide(policy, intent, factsFor(policy)).verdict).toBe('DENY');
  });

  it('takes no rule whose time lock would outlast its approval', () => {
    const approval = { timeout: 60, timelock: 60 };
    expect(() => policyOf([{ id: 'one', effect: 'escalate', approval }])).toThrow('timelock must be shorter');
  });

  it('gives rules the relations and the clock of the facts', () => {
    const policy = policyOf(
      [{ id: 'r', effect: 'allow', when: `relations.viewer && now == timestamp("${frozenNow}")` }],
      [],
      { viewer },
    );
    expect(decide(policy, intent, factsFor(policy)).verdict).toBe('ALLOW');
  });
});
