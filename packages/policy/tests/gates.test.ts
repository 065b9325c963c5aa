import { describe, expect, it } from '@jest/globals';
import { gateOrder, reasonCodes } from '@countersign/contracts';
import type { GateName, ReasonCode } from '@countersign/contracts';
import { decide, evaluateRules, failClosedCodes, gates } from '../src/index.ts';
import type { Facts } from '../src/index.ts';
import { allowing, asking, grant, intent, situations, unavailable } from './gate-situations.ts';
import { frozenNow, budgetOf, factsFor, grantFor, intentOf, knownFact, policyOf, viewer } from './situation.ts';

describe('gates', () => {
  it.each(situations)('return $code when $when', ({ code, facts = {}, call = {}, policy = allowing, evaluate }) => {
    const decision = decide(policy, intentOf(call), { ...factsFor(policy), ...facts }, evaluate);
    expect(decision.reason_code).toBe(code);
    expect(decision.verdict).toBe(reasonCodes[code].verdict);
    expect(decision.trace.map(({ gate }) => gate)).toEqual(gateOrder);
    expect(decision.reason).toMatch(/^\S+ .*\S$/); // any sentence for people
    const judged = decision.trace.findLast(({ outcome }) => outcome !== 'not_reached' && outcome !== 'not_applicable');
    if (decision.verdict !== 'ALLOW') expect(judged).toMatchObject({ reason_code: code, detail: decision.reason });
    else expect(judged).not.toHaveProperty('reason_code');
  });

  const judgeEveryCall = new Set<GateName>(['request', 'fence', 'policy', 'identity']);
  it.each(gateOrder)(
    'accept facts that are not applicable at the gate "%s", or deny if that gate judges every call',
    (gate) => {
      const factOf: Partial<Record<GateName, keyof Facts>> = {
        arguments: 'registry',
        rules: 'block',
        budget: 'budgets',
      };
      const facts = factsFor(allowing, { [factOf[gate] ?? gate]: { state: 'not_applicable' } });
      const { verdict, reason_code, trace } = decide(allowing, intent, facts);
      if (judgeEveryCall.has(gate)) expect([verdict, reason_code]).toEqual(['DENY', failClosedCodes[gate]]);
      else expect(verdict).toBe('ALLOW');
      const expected = { rules: 'pass' }[gate as string] ?? (judgeEveryCall.has(gate) ? 'deny' : 'not_applicable');
      expect(trace.find((entry) => entry.gate === gate)?.outcome).toBe(expected);
    },
  );

  it('deny even if the earlier gate that should have denied did not run', () => {
    const input = { policy: allowing, intent, evaluate: evaluateRules, validateArguments: () => null, asks: [] };
    const unlisted = knownFact({ server_id: 'files', state: 'approved' as const, tool: null });
    const facts = factsFor(allowing, { registry: unlisted });
    expect(gates.arguments({ ...input, facts })).toMatchObject({ outcome: 'deny', code: 'SCHEMA_VIOLATION' });
  });

  it('name the matching rules, and the requests that an approval satisfied', () => {
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
    for (const { outcome, ...report } of decide(allowing, intent, factsFor(allowing)).trace)
      expect([outcome, Object.keys(report)]).toEqual([outcome, ['gate']]);
  });

  it('return the reason of the denial to the requester', () => {
    const facts = factsFor(asking, grant({ state: 'denied', rejection_reason: 'not today' }));
    expect(decide(asking, intent, facts).reason).toMatch(/: not today$/);
  });

  it('cover every reason code', () => {
    const covered = new Set(situations.map(({ code }) => code));
    expect(Object.keys(reasonCodes).filter((code) => !covered.has(code as ReasonCode))).toEqual([]);
  });

  it('are marked as not reached after a denial', () => {
    const { trace } = decide(allowing, intent, factsFor(allowing, { scopes: unavailable }));
    const outcomes = trace.map(({ outcome }) => outcome);
    expect(outcomes.slice(0, 7)).toEqual(Array(7).fill('pass'));
    expect(trace[7]).toMatchObject({ gate: 'scopes', outcome: 'deny', reason_code: 'INSUFFICIENT_SCOPE' });
    expect(outcomes.slice(8)).toEqual(Array(6).fill('not_reached'));
  });

  it('record a satisfied escalation, and consume its grant', () => {
    const decision = decide(asking, intent, factsFor(asking, { approval: knownFact(grantFor(asking, intent)) }));
    expect(decision).toMatchObject({ verdict: 'ALLOW', consumes_approval: true, matched_rules: ['ask'] });
    expect(decision.trace.find(({ gate }) => gate === 'rules')).toMatchObject({
      outcome: 'escalate',
      reason_code: 'APPROVAL_REQUIRED',
    });
    expect(decision.trace.find(({ gate }) => gate === 'approval')).toMatchObject({ outcome: 'pass' });
  });

  it('do not consume a grant that was not requested', () => {
    const decision = decide(allowing, intent, factsFor(allowing, { approval: knownFact(grantFor(allowing, intent)) }));
    expect(decision).toMatchObject({ verdict: 'ALLOW', consumes_approval: false });
  });

  it('request the strictest of several approvals', () => {
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
  ])('deny instead of requesting approval when the %s of two rules exclude each other', (_what, one, two) => {
    const policy = policyOf([
      { id: 'one', effect: 'escalate', approval: one },
      { id: 'two', effect: 'escalate', approval: two },
    ]);
    expect(decide(policy, intent, factsFor(policy)).verdict).toBe('DENY');
  });

  it('never see a rule whose time lock is as long as its timeout, because such a bundle is invalid', () => {
    const approval = { timeout: 60, timelock: 60 };
    expect(() => policyOf([{ id: 'one', effect: 'escalate', approval }])).toThrow('timelock must be shorter');
  });

  it('pass the relations and the time of the facts to the rules', () => {
    const policy = policyOf(
      [{ id: 'r', effect: 'allow', when: `relations.viewer && now == timestamp("${frozenNow}")` }],
      [],
      { viewer },
    );
    expect(decide(policy, intent, factsFor(policy)).verdict).toBe('ALLOW');
  });
});
