import { describe, expect, it } from '@jest/globals';
import { installationCeiling, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { decideAsRecorded, type CompiledPolicy } from '../src/index.ts';
import { policyWith } from './sealed-policies.ts';
import { decideIn, worldOf, type World } from './sealed-world.ts';
import { budgetOf } from './situation.ts';
import { again, allowing, asking, outcome, tools, traceWith } from './under-a-draft.ts';

const world = worldOf({});
const open = allowing();
const renamed = allowing({ name: 'm' });
const call = { action: 'tool.call', tool: 'files.read', resource: null, args: { id: '7' }, context: {} } as const;

/** The record without the outcome of one gate. */
const without = (gate: string, of: World = world, was: CompiledPolicy = open): Partial<BoundaryRecord> => ({
  gates: decideIn(of, was).record.gates.filter((one) => one.gate !== gate),
});
const approved = (of: World, was: CompiledPolicy): Partial<BoundaryRecord> => ({
  ...traceWith(of, was, outcome('approval', { outcome: 'pass' })),
  approval_id: 'apr_1' as never,
});

describe('a trace without a gate', () => {
  it('leaves the result of that gate unknown', () => {
    expect(again(world, [open, renamed], { record: without('request') })).toBe('gates.request');
    const short = worldOf({ budgets: [budgetOf({ budget_id: installationCeiling })] });
    expect(again(short, [open, renamed], { record: without('budget', short) })).toBe(`budgets.${installationCeiling}`);
    const { gates } = approved(world, asking(1));
    const record = { ...approved(world, asking(1)), gates: gates?.filter(({ gate }) => gate !== 'budget') };
    expect(again(world, [asking(1), asking(1, 'm')], { record })).toBe('ALLOW ALLOWED');
  });

  it('keeps its verdict if the policy was not judged', () => {
    const record = { ...decideIn(world, open).record, ...without('policy') };
    expect(decideAsRecorded(record, policyWith({ rules: [{ id: 'r0', effect: 'deny' }] }))).toMatchObject({
      verdict: 'ALLOW',
    });
  });

  it('leaves relations unknown, even if they were queried for a rule', () => {
    const record = without('relationship', related, asksFor('reader'));
    expect(again(related, [asksFor('reader'), asksFor('reader', 'm')], { record })).toBe('gates.relationship');
  });
});

describe('the values that a record lacks', () => {
  it('are reported in order, each once', () => {
    const reads = (...paths: string[]) =>
      policyWith({ rules: paths.map((path, index) => ({ id: `r${index}`, effect: 'allow', when: `has(${path})` })) });
    expect(again(world, [open, reads('args.z', 'args.a')])).toBe('args.a,args.z');
    const byEffect = policyWith({
      ...tools('E1'),
      rules: [
        { id: 'r0', effect: 'allow', match: { effect_level: ['E1'] }, when: 'has(args.z)' },
        { id: 'r1', effect: 'allow', match: { effect_level: ['E2', 'E3', 'E4'] }, when: 'has(args.z) || has(args.b)' },
      ],
    });
    expect(again(world, [open, byEffect])).toBe('args.b,args.z');
  });

  it('exclude the values next to a fact that was too large', () => {
    const reading = policyWith({ rules: [{ id: 'r0', effect: 'allow', when: 'has(args.id) || has(args.to)' }] });
    const { intent } = decideIn(worldOf({ call }), reading).record;
    const record = { intent: { ...intent, capped_facts: { 'args.to': { hash: 'sha256:x', bytes: 9 } } } } as never;
    const draft = policyWith({ rules: [{ id: 'r0', effect: 'allow', when: 'has(args.id)' }] });
    expect(again(worldOf({ call }), [reading, draft], { record })).toBe('ALLOW ALLOWED');
  });

  it('are reported even if the facts of the decision were unavailable', () => {
    const record = {
      ...decideIn(world, open).record,
      ...{ verdict: 'DENY', reason_code: 'PDP_UNAVAILABLE', dispatched_by: undefined },
    } as unknown as BoundaryRecord;
    expect(decideAsRecorded(record, open)).toEqual({ kind: 'UNREPLAYABLE', missing: ['dispatched_by'] });
  });
});

describe('the origin of a tool', () => {
  const silent = outcome('registry', { outcome: 'not_reached' });
  /** A policy that requires a relation for calls with this effect. The record lacks the argument of the relation. */
  const demanding = (effect: string, rest: object = {}) =>
    policyWith({ relations: { reader: { ...reader, required: { effect_level: [effect] } } }, ...rest });

  it('has both possible effects if the registry was not reached', () => {
    const was = allowing(tools('E1'));
    const record = traceWith(world, was, silent);
    const verdictUnder = (effect: string) => again(world, [was, demanding(effect)], { record });
    expect(['E0', 'E1', 'E4'].map(verdictUnder)).toEqual([
      ...['args.id,gates.registry', 'args.id,gates.registry', 'args.id,gates.registry'],
    ]);
    expect(['E2', 'E3'].map(verdictUnder)).toEqual(['gates.registry', 'gates.registry']);
  });

  it('changes no effect if both policies declare the same', () => {
    const listed = worldOf({
      server: {
        ...{ host: 'a.example.org', effect: 'E1', state: 'approved', isDrifted: false, takesArguments: true },
      },
    });
    const record = { ...traceWith(listed, open, silent), mcp_server_id: null };
    expect(again(listed, [open, demanding('E4')], { record })).toBe('gates.registry');
    expect(again(listed, [open, demanding('E1')], { record })).toBe('args.id');
  });

  it('does not matter for a call without a tool', () => {
    const leaving = worldOf({
      call: { ...call, action: 'data.egress', tool: null, resource: 'https://a.example.org/x' },
    });
    const record = traceWith(leaving, open, silent);
    expect(again(leaving, [open, allowing({ egress: ['a.example.org'] })], { record })).toBe('ALLOW ALLOWED');
  });

  it('does not matter if no policy was active', () => {
    const misspelt = worldOf({ call: { ...call, tool: 'FILES.read' } });
    const record = traceWith(misspelt, open, outcome('request', { outcome: 'deny', reason_code: 'SCHEMA_VIOLATION' }));
    expect(again(misspelt, [open, open], { record, recorded: 'none' })).toBe('DENY SCHEMA_VIOLATION');
  });
});

describe('the demand of a call', () => {
  it('is the declared number of writes if it differs from the count by effect', () => {
    const three = worldOf({ claim: { effect: null, writes: 5 }, budgets: [budgetOf({ writes_remaining: 3 })] });
    expect(again(three, [allowing(tools('E1')), allowing(tools('E3'))])).toBe('DENY BUDGET_EXCEEDED');
  });

  it('is compared with the visible budgets if another budget is hidden', () => {
    const pricey = worldOf({
      budgets: [budgetOf({ approval_required_above_minor: 0 }), budgetOf({ budget_id: installationCeiling })],
      demand: { tool_calls: 1, spend_micros: 1n, egress_bytes: 0 },
    });
    expect(again(pricey, [open, renamed], { record: approved(pricey, open) })).toBe('ALLOW ALLOWED');
  });
});

describe('relations of a draft', () => {
  const renaming = (name: string, when: string, rest: object = {}) =>
    policyWith({ relations: { [name]: reader }, rules: [{ id: 'r0', effect: 'allow', when }], ...rest });

  it('have recorded results under their own names', () => {
    expect(again(related, [asksFor('reader'), renaming('seen', 'relations.seen')])).toBe('ALLOW ALLOWED');
  });

  it('are known if a requirement failed, or if the call lacked a value', () => {
    const required = policyWith({ relations: { reader: { ...reader, required: { tool: ['files.*'] } } }, rules });
    expect(again(unrelated, [required, asksFor('reader')])).toBe('gates.registry');
    const empty = worldOf({ call: { ...call, args: {} } });
    expect(again(empty, [asksFor('reader'), renaming('seen', 'has(relations.seen)')])).toBe('DENY NO_MATCHING_RULE');
  });

  it('are absent if they had no result', () => {
    const was = asksFor('reader');
    const { intent } = decideIn(related, was).record;
    const record = { intent: { ...intent, facts: { ...intent.facts, 'relations.reader': null } } };
    expect(again(related, [was, renaming('reader', 'has(relations.reader)')], { record })).toBe(
      'DENY NO_MATCHING_RULE',
    );
  });
});

describe('a recorded approval', () => {
  it('counts if the same relations and the same time required it', () => {
    const escalating = (when: string, name: string) =>
      policyWith({ name, relations: { reader }, rules: [{ id: 'r0', effect: 'escalate', when }] });
    for (const when of ['relations.reader', 'relations.reader && now > timestamp("2020-01-01T00:00:00Z")']) {
      const was = escalating(when, 'n');
      expect(again(related, [was, escalating(when, 'm')], { record: approved(related, was) })).toBe('ALLOW ALLOWED');
    }
  });

  it('has no known outcome if there was no policy, or if it is unknown', () => {
    for (const recorded of ['none', 'unknown'] as const)
      expect(again(world, [asking(1), asking(1)], { record: approved(world, asking(1)), recorded })).toBe('approval');
  });
});

const reader = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };
const rules = [{ id: 'r0', effect: 'allow', when: 'relations.reader' }];
const asksFor = (name: string, title = 'n') =>
  policyWith({
    name: title,
    relations: { [name]: reader },
    rules: [{ id: 'r0', effect: 'allow', when: `relations.${name}` }],
  });
const [related, unrelated] = [0, 1]
  .map((relatedBy) => worldOf({ call, relatedBy }))
  .sort((one) => (decideIn(one, asksFor('reader')).decision.verdict === 'ALLOW' ? -1 : 1)) as [World, World];
