import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideAgain, failedTests, testOfRecord, type CompiledPolicy } from '../src/index.ts';
import { decideIn, worldOf, worlds, type World } from './sealed-world.ts';
import { policies, policyWith } from './sealed-policies.ts';
import { knownFact } from './situation.ts';

/** The test for one policy, made from a call that was sealed under another one. */
function made(world: World, [recorded, draft]: [CompiledPolicy, CompiledPolicy], approvalId: string | null = null) {
  const record = { ...decideIn(world, recorded).record, approval_id: approvalId as never };
  const expected = { name: 'kept', expect: { verdict: 'ALLOW' as const } };
  return { record, test: testOfRecord(record, { draft, recorded, ceilings: [] }, expected) };
}

describe('a test that is made from a recorded call', () => {
  it('has the verdict of the repeated decision, or names why it cannot be made', () => {
    const counts = { test: 0, UNREPLAYABLE: 0, not_by_rules: 0 };
    fc.assert(
      fc.property(worlds, policies, policies, (world, recorded, draft) => {
        const { record, test } = made(world, [recorded, draft]);
        const again = decideAgain(record, { draft, recorded, ceilings: [] });
        counts[test.kind] += 1;
        if (again.kind === 'UNREPLAYABLE') expect(test).toEqual(again);
        else if (test.kind === 'not_by_rules') expect(test.reason_code).toBe(again.reason_code);
        else if (test.kind === 'UNREPLAYABLE') expect(test.missing).toEqual(['now']);
        else expect(failedTests(draft, [{ ...test.test, expect: { verdict: again.verdict } }])).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  });

  it('has the requested name, and contains the call as far as the record contains it', () => {
    const reading = policyWith({ rules: [{ id: 'r0', effect: 'allow', when: 'args.a == 1 && context.k == "v"' }] });
    const call = { action: 'tool.call', tool: 'files.read', resource: 'file:/a' };
    const world = worldOf({ call: { ...call, args: { a: 1, secret: 2 }, context: { k: 'v' } } });
    expect(made(world, [reading, reading]).test).toEqual({
      kind: 'test',
      test: {
        name: 'kept',
        intent: {
          ...call,
          ...{ principal: 'agent-1', tenant: 'acme', session: 'session-1' },
          ...{ args: { a: 1 }, context: { k: 'v' }, relations: {}, effect_level: 'E4' },
        },
        expect: { verdict: 'ALLOW' },
      },
    });
  });

  it('cannot be made if the record lacks a value', () => {
    const [open, reading] = [
      policyWith({}),
      policyWith({ rules: [{ id: 'r0', effect: 'allow', when: 'has(args.a)' }] }),
    ];
    expect(made(worldOf({}), [open, reading]).test).toEqual({ kind: 'UNREPLAYABLE', missing: ['args.a'] });
  });

  it('has the effect that the draft determines', () => {
    const world = worldOf({ call: { action: 'tool.call', tool: 'files.read', resource: null, args: {}, context: {} } });
    const declared = policyWith({ tools: { 'files.read': { effect_level: 'E1' } } });
    const { record, test } = made(world, [declared, policyWith({})]);
    expect(record.intent.effect_level).toBe('E1');
    expect(test).toMatchObject({ kind: 'test', test: { intent: { effect_level: 'E4' } } });
  });

  it('names no tool and no resource if the call named none', () => {
    const open = policyWith({});
    const { test } = made(
      worldOf({ call: { action: 'agent.spawn', tool: null, resource: null, args: {}, context: {} } }),
      [open, open],
    );
    expect(test).toMatchObject({ kind: 'test' });
    expect(
      test.kind === 'test' && Object.keys(test.test.intent).filter((name) => ['tool', 'resource'].includes(name)),
    ).toEqual([]);
  });

  it('cannot be made if the rules read the time', () => {
    const ofTime = policyWith({
      rules: [{ id: 'r0', effect: 'allow', when: 'now > timestamp("2020-01-01T00:00:00Z")' }],
    });
    expect(made(worldOf({}), [ofTime, ofTime]).test).toEqual({ kind: 'UNREPLAYABLE', missing: ['now'] });
    const ofOthers = {
      id: 'r1',
      effect: 'deny',
      match: { tool: ['x.y'] },
      when: 'now > timestamp("2020-01-01T00:00:00Z")',
    };
    const mixed = policyWith({ rules: [{ id: 'r0', effect: 'allow' }, ofOthers] });
    expect(made(worldOf({}), [mixed, mixed]).test.kind).toBe('test');
  });

  it('cannot be made if any rule that covers the call reads the time', () => {
    const mixed = policyWith({
      rules: [
        { id: 'r0', effect: 'allow' },
        { id: 'r1', effect: 'deny', when: 'now < timestamp("2020-01-01T00:00:00Z")' },
        { id: 'r2', effect: 'deny', when: 'has(args.x)' },
      ],
    });
    expect(made(worldOf({}), [mixed, mixed]).test).toEqual({ kind: 'UNREPLAYABLE', missing: ['now'] });
  });

  it('contains the relations that the draft declares, and no other', () => {
    const viewer = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };
    const rules = [
      { id: 'r0', effect: 'allow' },
      { id: 'r1', effect: 'deny', when: 'relations.reader && relations.other && has(args.id) && args.id == ""' },
    ];
    const two = policyWith({ relations: { reader: viewer, other: { ...viewer, relation: 'owner' } }, rules });
    const call = { action: 'tool.call', tool: 'files.read', resource: null, args: { id: '7' }, context: {} };
    const { record } = made(worldOf({ call }), [two, two]);
    const { facts } = record.intent;
    const relationsOf = (draft: CompiledPolicy) =>
      testOfRecord(record, { draft, recorded: two, ceilings: [] }, { name: 'kept', expect: { verdict: 'ALLOW' } });
    expect(Object.keys(facts).filter((path) => path.startsWith('relations.'))).toHaveLength(2);
    expect(relationsOf(two)).toMatchObject({
      test: { intent: { relations: { reader: facts['relations.reader'], other: facts['relations.other'] } } },
    });
    const one = policyWith({
      relations: { reader: viewer },
      rules: [
        { id: 'r0', effect: 'allow' },
        { id: 'r1', effect: 'deny', when: 'relations.reader && args.id == ""' },
      ],
    });
    const kept = relationsOf(one);
    expect(kept.kind === 'test' && Object.keys(kept.test.intent.relations ?? {})).toEqual(['reader']);
  });

  it('can be made despite a fact that was too large, if the draft does not read it', () => {
    const reading = policyWith({ rules: [{ id: 'r0', effect: 'allow', when: 'has(args.to) || size(context) == 0' }] });
    const { record } = made(worldOf({}), [reading, reading]);
    const capped = {
      ...record,
      intent: { ...record.intent, capped_facts: { 'args.to': { hash: 'sha256:x' as never, bytes: 9 } } },
    };
    const under = { draft: policyWith({}), recorded: reading, ceilings: [] };
    const kept = { name: 'kept', expect: { verdict: 'ALLOW' as const } };
    expect(testOfRecord(capped as typeof record, under, kept)).toMatchObject({
      kind: 'test',
      test: { intent: { relations: {} } },
    });
  });

  it('cannot be made if a gate other than the rules gate decides', () => {
    const fence = {
      scope: 'tenant:a',
      level: 'tenant',
      kind: 'freeze',
      epoch: 1,
      reason: 'r',
      calls_remaining: null,
    } as const;
    const open = policyWith({});
    expect(made(worldOf({ fence: knownFact([fence]) }), [open, open]).test).toEqual({
      ...{ kind: 'not_by_rules', reason_code: 'SYSTEM_FROZEN' },
    });
  });

  it('can be made if an approval permitted the call', () => {
    const asking = policyWith({ rules: [{ id: 'r0', effect: 'escalate', approval: { quorum: 1 } }] });
    const { record } = made(worldOf({}), [asking, asking]);
    const gates = record.gates.map((one) =>
      one.gate === 'approval' ? { gate: one.gate, outcome: 'pass' as const } : one,
    );
    const under = { draft: asking, recorded: asking, ceilings: [] };
    const kept = { name: 'kept', expect: { verdict: 'ESCALATE' as const } };
    expect(testOfRecord({ ...record, gates, approval_id: 'apr_1' as never }, under, kept)).toMatchObject({
      kind: 'test',
    });
    // Another gate denied this call, so the rules do not explain the denial.
    const refused = record.gates.map((one) =>
      one.gate === 'approval'
        ? { gate: one.gate, outcome: 'deny' as const, reason_code: 'APPROVAL_REJECTED' as const }
        : one,
    );
    expect(testOfRecord({ ...record, gates: refused, approval_id: 'apr_1' as never }, under, kept)).toEqual({
      ...{ kind: 'not_by_rules', reason_code: 'APPROVAL_REJECTED' },
    });
    // Without an approval, the rules do not explain why the call passed.
    expect(testOfRecord({ ...record, gates }, under, kept)).toMatchObject({ kind: 'not_by_rules' });
  });
});
