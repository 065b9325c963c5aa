import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { installationCeiling, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { decideAgain, decideAsRecorded, type CompiledPolicy } from '../src/index.ts';
import { policies, policyWith } from './sealed-policies.ts';
import { decideIn, worldOf, worlds, type World } from './sealed-world.ts';
import { budgetOf, identityOf } from './situation.ts';
import { again, allowing, asking, outcome, verdictText, tools, traceWith, type Under } from './under-a-draft.ts';

describe('a decision that is repeated from its record', () => {
  it('equals the decision of the draft on the same call in the same world', () => {
    const counts = { decided: 0, unreplayable: 0 };
    fc.assert(
      fc.property(worlds, policies, policies, (world, recorded, draft) => {
        const again = decideAgain(decideIn(world, recorded).record, { draft, recorded, ceilings: [] });
        counts[again.kind === 'decided' ? 'decided' : 'unreplayable'] += 1;
        if (again.kind === 'decided') expect(verdictText(again)).toBe(verdictText(decideIn(world, draft).decision));
        else expect(again.missing).not.toEqual([]);
      }),
      { numRuns: 2_000 },
    );
    // Most calls have a known result.
    expect(counts.decided).toBeGreaterThan(counts.unreplayable);
  });

  it('equals the recorded decision under the same policy', () => {
    const unknown = new Map<string, number>();
    fc.assert(
      fc.property(worlds, policies, (world, recorded) => {
        const { decision, record } = decideIn(world, recorded);
        const again = decideAsRecorded(record, recorded);
        if (again.kind === 'UNREPLAYABLE') {
          for (const path of again.missing) unknown.set(path, (unknown.get(path) ?? 0) + 1);
          return;
        }
        const { verdict, reason_code, matched_rules } = decision;
        expect(again).toEqual({ kind: 'decided', verdict, reason_code, matched_rules });
      }),
      { numRuns: 2_000 },
    );
    // Only these values may be missing from a record. Rules do not record the tools that a provider hosts. Whether a
    // name is a look-alike depends on the server that lists it.
    expect(['args.hosted_tools', 'gates.registry']).toEqual(expect.arrayContaining([...unknown.keys()]));
  });
});

describe('values that a record lacks', () => {
  const reads = (when: string) => policyWith({ rules: [{ id: 'r0', effect: 'allow', when }] });
  const capped = (path: string) => {
    const { intent } = decideIn(worldOf({}), reads('has(args.to)')).record;
    return { intent: { ...intent, capped_facts: { [path]: 'sha256:x' } } } as unknown as Partial<BoundaryRecord>;
  };

  it.each<[string, () => string, string]>([
    [
      'a fact that only the draft reads',
      () => again(worldOf({}), [reads('has(args.a)'), reads('has(args.b)')]),
      'args.b',
    ],
    [
      'several facts, in order',
      () => again(worldOf({}), [allowing(), reads('has(args.b) && has(context.a)')]),
      'args.b,context.a',
    ],
    [
      'a fact that was too large to record',
      () => again(worldOf({}), [reads('has(args.to)'), reads('has(args.to)')], { record: capped('args.to') }),
      'args.to',
    ],
    [
      'a member of a fact that was too large to record',
      () => again(worldOf({}), [reads('has(args.to)'), reads('has(args.to.x)')], { record: capped('args.to') }),
      'args.to.x',
    ],
    [
      'any member of the call, when the recorded policy is unknown',
      () => again(worldOf({}), [reads('has(args.a)'), reads('has(args.a)')], { recorded: 'unknown' }),
      'args.a',
    ],
    [
      'any member of the call, when there was no recorded policy',
      () => again(worldOf({}), [reads('has(args.a)'), reads('has(args.a)')], { recorded: 'none' }),
      'args.a',
    ],
    [
      'the sender of the call',
      () => again(worldOf({}), [allowing(), allowing()], { record: { dispatched_by: undefined as never } }),
      'dispatched_by',
    ],
    [
      'the demand of the call',
      () => again(worldOf({}), [allowing(), allowing()], { record: { demand: undefined as never } }),
      'demand',
    ],
    [
      'the tools that a provider would run',
      () => again(model, [allowing(), allowing(tools('E1', { identity: ['proven'] }))]),
      'args.hosted_tools',
    ],
    [
      'the host of the server of a tool',
      () => again(worldOf({ server }), [allowing(), allowing({ egress: ['*.example.org'] })]),
      'egress.host',
    ],
    [
      'the gate after the check of the tool name, when the recorded policy is unknown',
      () => again(misspelt, [allowing(tools('E1')), allowing()], { recorded: 'unknown' }),
      'gates.fence',
    ],
    ['the gate after a rejected tool name', () => again(misspelt, [allowing(tools('E1')), allowing()]), 'gates.fence'],
    [
      'the gate after a denial for missing credentials',
      () =>
        again(worldOf({ identity: identityOf({ credential: 'operator_key' }) }), [
          allowing({ identity: ['proven'] }),
          allowing(),
        ]),
      'gates.registry',
    ],
  ])('are named: %s', (_what, of, missing) => {
    expect(of()).toBe(missing);
  });

  it('are not needed if nothing depends on them', () => {
    const ofOthers = { id: 'r1', effect: 'deny', match: { tool: ['other.*'] }, when: 'has(args.to)' };
    const draft = policyWith({ rules: [{ id: 'r0', effect: 'allow' }, ofOthers] });
    expect(again(worldOf({}), [allowing(), draft])).toBe('ALLOW ALLOWED');
    expect(again(model, [allowing(), allowing(tools('E1'))])).toBe('ALLOW ALLOWED');
    // The record always contains the time, the caller and the call.
    expect(again(worldOf({}), [allowing(), reads('now > timestamp("2020-01-01T00:00:00Z")')])).toBe('ALLOW ALLOWED');
    const beside = 'action != "" && tool != "" && resource == null && principal != "" && tenant != "" && session != ""';
    expect(again(worldOf({}), [allowing(), reads(`${beside} && effect_level == "E4"`)])).toBe('ALLOW ALLOWED');
    expect(again(worldOf({ isBlocked: true }), [allowing(), reads('has(args.a)')])).toBe('DENY TOOL_BLOCKED');
    const listed = { egress: ['*.example.org'] };
    expect(again(worldOf({ server }), [allowing(listed), allowing({ ...listed, name: 'other' })])).toBe(
      'ALLOW ALLOWED',
    );
    expect(again(worldOf({ server }), [allowing(listed), allowing()])).toBe('ALLOW ALLOWED');
  });
});

describe('a call under a draft', () => {
  it('consumes the writes that its caller declared, whatever its effect', () => {
    const one = [budgetOf({ writes_remaining: 1 })];
    const none = [budgetOf({ writes_remaining: 0 })];
    const [reading, writing] = [allowing(tools('E1')), allowing(tools('E3'))];
    const world = (writes: number | null, budgets: World['budgets']) =>
      worldOf({ claim: { effect: null, writes }, budgets });
    expect(again(world(1, one), [reading, writing])).toBe('ALLOW ALLOWED');
    expect(again(world(null, one), [reading, writing])).toBe('ALLOW ALLOWED');
    // The record does not show whether the caller declared zero writes or made no declaration.
    expect(again(world(null, none), [reading, writing])).toBe('demand.writes');
    expect(again(world(null, none), [reading, reading])).toBe('ALLOW ALLOWED');
    const hidden = [budgetOf({ budget_id: installationCeiling })];
    expect(again(world(null, hidden), [reading, writing])).toBe(`budgets.${installationCeiling}`);
    expect(again(world(null, hidden), [reading, reading])).toBe('ALLOW ALLOWED');
  });

  it('has the highest declared effect', () => {
    const byEffect = (rest: object) =>
      policyWith({ rules: [{ id: 'r0', effect: 'allow', match: { effect_level: ['E4'] } }], ...rest });
    // The tool was undeclared, so the call was E4, whatever its caller declared. The record does not show that
    // declaration.
    expect(again(worldOf({}), [allowing(), byEffect(tools('E1'))])).toBe('effect_level');
    expect(again(worldOf({}), [allowing(), byEffect({})])).toBe('ALLOW ALLOWED');
    expect(again(worldOf({}), [allowing(tools('E1')), byEffect(tools('E4'))])).toBe('ALLOW ALLOWED');
    // The draft allows the call at every effect.
    expect(again(worldOf({}), [allowing(), allowing(tools('E1'))])).toBe('ALLOW ALLOWED');
    // The draft does not declare the caller's tool, so the call is E4.
    expect(again(worldOf({}), [allowing(tools('E1')), byEffect({})])).toBe('ALLOW ALLOWED');
    // The caller declared E3, and the draft declares a lower effect.
    const declared = { effect: 'E3' as const, writes: null };
    expect(again(worldOf({ claim: declared }), [allowing(tools('E1')), byEffect(tools('E2'))])).toBe(
      'DENY NO_MATCHING_RULE',
    );
    expect(again(worldOf({}), [allowing(tools('E1')), byEffect(tools('E4'))], { recorded: 'unknown' })).toBe(
      'ALLOW ALLOWED',
    );
  });

  it('has the effect from the registry if the draft declares none', () => {
    const byEffect = (effect: string, rest: object = {}) =>
      policyWith({ rules: [{ id: 'r0', effect: 'allow', match: { effect_level: [effect] } }], ...rest });
    const grave = worldOf({ server: { ...server, effect: 'E2' } });
    expect(again(grave, [allowing(tools('E1')), byEffect('E2')])).toBe('ALLOW ALLOWED');
    expect(again(grave, [allowing(tools('E1')), byEffect('E4')])).toBe('DENY NO_MATCHING_RULE');
    expect(again(grave, [allowing(tools('E3')), byEffect('E3')])).toBe('effect_level');
  });

  it('keeps its sealed effect if it names no tool, even if the recorded policy is unknown', () => {
    const call = { action: 'data.egress', tool: null, resource: null, args: {}, context: {} };
    const draft = policyWith({ rules: [{ id: 'r0', effect: 'allow', match: { effect_level: ['E3'] } }] });
    const world = worldOf({ call, claim: { effect: 'E3', writes: null } });
    for (const recorded of ['unknown', 'none', draft] as const)
      expect(again(world, [allowing(), draft], { recorded })).toBe('ALLOW ALLOWED');
  });

  it('has at least the minimum effect of its action, whatever the draft declares', () => {
    const call = { action: 'data.egress', tool: 'files.read', resource: null, args: {}, context: {} };
    const byEffect = (rest: object) =>
      policyWith({ rules: [{ id: 'r0', effect: 'allow', match: { effect_level: ['E3'] } }], ...rest });
    for (const was of ['E1', 'E3'])
      expect([was, again(worldOf({ call }), [allowing(tools(was)), byEffect(tools('E0'))])]).toEqual([
        ...[was, 'ALLOW ALLOWED'],
      ]);
  });

  it('is denied if the draft lacks a current ceiling', () => {
    const ceilings = ['{"effect":"deny","id":"ceiling.x","match":{}}'];
    expect(again(worldOf({}), [allowing(), allowing()], { ceilings })).toBe('DENY CEILING_MISSING');
  });

  it('is escalated by the registry, as recorded', () => {
    const quarantined = worldOf({ server: { ...server, state: 'quarantined' } });
    expect(again(quarantined, [allowing(), allowing({ name: 'm' })])).toBe('ESCALATE SERVER_QUARANTINED');
  });
});

describe('an approval under a draft', () => {
  const world = worldOf({});
  const underApproval = (changes: object, id: string | null = 'apr_1'): Under => ({
    record: { ...traceWith(world, asking(1), outcome('approval', changes)), approval_id: id as never },
  });
  const withoutGate = (gate: string) => ({
    gates: decideIn(world, asking(1)).record.gates.filter((one) => one.gate !== gate),
  });
  const passed = underApproval({ outcome: 'pass' });
  const refused = underApproval({ outcome: 'deny', reason_code: 'APPROVAL_REJECTED' });
  const locked = underApproval({ outcome: 'deny', reason_code: 'APPROVAL_TIMELOCKED' });

  it.each<[string, CompiledPolicy, Under, string]>([
    ['is unchanged if the draft requests the same approval', asking(1, 'm'), passed, 'ALLOW ALLOWED'],
    ['has an unknown outcome if the draft requests another approval', asking(2), passed, 'approval'],
    ['is not used if the draft requests none', allowing(), passed, 'ALLOW ALLOWED'],
    ['stays rejected', asking(2), refused, 'DENY APPROVAL_REJECTED'],
    ['keeps its time lock if the draft requests the same approval', asking(1, 'm'), locked, 'DENY APPROVAL_TIMELOCKED'],
    ['has an unknown time lock if the draft requests another approval', asking(2), locked, 'approval'],
    [
      'is requested if none was requested and its gate was not reached',
      asking(2),
      underApproval({ outcome: 'not_reached' }, null),
      'ESCALATE APPROVAL_REQUIRED',
    ],
    [
      'has an unknown outcome if its gate was not reached',
      asking(1, 'm'),
      underApproval({ outcome: 'not_reached' }),
      'approval',
    ],
    [
      'has an unknown outcome if the record lacks its gate',
      asking(1, 'm'),
      { record: { ...withoutGate('approval'), approval_id: 'apr_1' as never } },
      'approval',
    ],
    ['is requested again', asking(2), underApproval({ outcome: 'escalate' }), 'ESCALATE APPROVAL_REQUIRED'],
    [
      'is requested if the recorded policy needed none',
      asking(2),
      underApproval({ outcome: 'not_applicable' }, null),
      'ESCALATE APPROVAL_REQUIRED',
    ],
    [
      'is requested if the recorded requests excluded each other',
      asking(1),
      underApproval({ outcome: 'deny', reason_code: 'APPROVAL_REJECTED' }, null),
      'ESCALATE APPROVAL_REQUIRED',
    ],
    [
      'has an unknown outcome if the record lacks the code of its denial',
      asking(1),
      underApproval({ outcome: 'deny' }),
      'approval',
    ],
  ])('%s', (_what, draft, under, answer) => {
    expect(again(world, [asking(1), draft], under)).toBe(answer);
  });

  it('has no known outcome when the recorded policy is unknown', () => {
    expect(again(world, [asking(1), asking(1)], { ...passed, recorded: 'unknown' })).toBe('approval');
  });

  it('counts for a budget as it does for a rule', () => {
    const pricey = worldOf({
      budgets: [budgetOf({ approval_required_above_minor: 0 })],
      demand: { ...free, spend_micros: 1n },
    });
    const record = { ...traceWith(pricey, allowing(), outcome('approval', { outcome: 'pass' })), approval_id: 'apr_1' };
    const under = { record: record as Partial<BoundaryRecord> };
    expect(again(pricey, [allowing(), allowing({ name: 'm' })], under)).toBe('ALLOW ALLOWED');
    expect(again(pricey, [allowing(), asking(1)], under)).toBe('approval');
  });
});

describe('a decision that is repeated under its own policy', () => {
  const denying = policyWith({ rules: [{ id: 'r0', effect: 'deny' }] });
  const open = allowing();
  const sealed = (was: CompiledPolicy, changes: Partial<BoundaryRecord> = {}) => ({
    ...decideIn(worldOf({}), was).record,
    ...changes,
  });
  const decided = (verdict: string, reason_code: string, matched_rules: string[]) => ({
    ...{ kind: 'decided', verdict, reason_code, matched_rules },
  });

  it('is evaluated again, both for an allow and a denial', () => {
    expect(decideAsRecorded(sealed(open), open)).toEqual(decided('ALLOW', 'ALLOWED', ['r0']));
    expect(decideAsRecorded(sealed(denying), denying)).toEqual(decided('DENY', 'POLICY_DENIED', ['r0']));
    expect(decideAsRecorded(sealed(open), denying)).toEqual(decided('DENY', 'POLICY_DENIED', ['r0']));
  });

  it.each(['none', 'unknown'] as const)('cannot be repeated if the policy is %s', (recorded) => {
    expect(decideAsRecorded(sealed(open), recorded)).toEqual({ kind: 'UNREPLAYABLE', missing: ['policy'] });
  });

  it('keeps the verdict of its trace if no rule was evaluated', () => {
    const stale: Partial<BoundaryRecord> = { verdict: 'DENY', reason_code: 'POLICY_STALE', matched_rules: ['r7'] };
    const ended = traceWith(worldOf({}), open, outcome('policy', { outcome: 'deny', reason_code: 'POLICY_STALE' }));
    const record = sealed(open, { ...ended, ...stale });
    for (const recorded of [open, 'unknown', 'none'] as const)
      expect(decideAsRecorded(record, recorded)).toEqual(decided('DENY', 'POLICY_STALE', ['r7']));
  });

  it.each([
    ['PDP_UNAVAILABLE', 'gates.rules'],
    ['BUDGET_UNAVAILABLE', 'gates.budget'],
  ] as const)('is unknown if its facts were unavailable: %s', (reason_code, gate) => {
    const blind = { verdict: 'DENY', reason_code } as const;
    expect(decideAsRecorded(sealed(open, blind), open)).toEqual({ kind: 'UNREPLAYABLE', missing: [gate] });
    expect(decideAsRecorded(sealed(denying, blind), denying)).toEqual(decided('DENY', 'POLICY_DENIED', ['r0']));
  });

  it('uses the ceilings in its own rules', () => {
    const ceiling = { id: 'ceiling.x', effect: 'deny', match: { action: ['agent.spawn'] } };
    const bounded = policyWith({ rules: [ceiling, { id: 'r0', effect: 'allow' }] });
    expect(decideAsRecorded(sealed(bounded), bounded)).toEqual(decided('ALLOW', 'ALLOWED', ['r0']));
  });
});

const free = { tool_calls: 1, spend_micros: 0n, egress_bytes: 0 };
const server = {
  host: 'a.example.org',
  effect: 'E1',
  state: 'approved',
  isDrifted: false,
  takesArguments: true,
} as const;
const model = worldOf({ call: { action: 'model.call', tool: null, resource: null, args: {}, context: {} } });
const misspelt = worldOf({ call: { action: 'tool.call', tool: 'FILES.read', resource: null, args: {}, context: {} } });
