import { describe, expect, it } from '@jest/globals';
import type { Digest, Instant } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import {
  compilePolicy,
  evaluateRulesWithin,
  parsePolicyBundle,
  Work,
  type CompiledPolicy,
  type RelationshipFact,
} from '@countersign/policy';
import type { Log } from '@countersign/service-kit';
import { draftFact, draftRelations } from '../src/decision/shadow-relations.ts';
import { areAsked, askDrafts, validatedOnce, type ShadowAnswer } from '../src/decision/shadow.ts';
import { normalise } from '../src/call/normalise.ts';
import { ShadowDrafts, type LoadedLane } from '../src/controls/policy/shadow-drafts.ts';
import type { LaneRow } from '../src/controls/policy/shadow-lanes.ts';
import { notAsked } from '../src/controls/relations/relation-source.ts';
import type { ToolResolution } from '../src/registry/tool-resolver.ts';
import { agent, callOf } from './_batch.ts';

const now = '2026-11-21T10:00:00.000Z' as Instant;
const hasher = { provider: nodeProvider, saltOf: () => new Uint8Array(32) };
const draft = (members: object, rules: object[] = [{ id: 'all', effect: 'allow' }]): CompiledPolicy => {
  const bundle = { format: 'countersign/policy.v1', name: 'draft', version: '1', rules, ...members };
  return compilePolicy(parsePolicyBundle(JSON.stringify(bundle)), nodeProvider);
};
const allows = draft({ tools: { 'files.read': { effect_level: 'E1' } } });

const laneOf = (policy: CompiledPolicy | null, failures = 3, lane = 'draft'): LoadedLane => {
  const row = { lane, hash: (policy?.hash ?? 'sha256:none') as Digest, setBy: agent, sinceMs: 1 } as LaneRow;
  return { row, policy, failures };
};
const log = { warn: () => undefined } as unknown as Log;
const source = new ShadowDrafts({ provider: nodeProvider, load: async () => null, log });

type Input = Parameters<typeof askDrafts>[2];
function ask(lanes: readonly LoadedLane[], change: Partial<Input> = {}, args: object = {}) {
  const call = callOf({}, { args: args as never });
  const { intent } = normalise(hasher, call, { resolution: null, policy: null });
  const input: Input = { call, intent, resolution: null, now, relations: { needed: null, relations: notAsked } };
  return askDrafts(source, lanes, { ...input, ...change });
}
/** The verdict of each draft, or the fault that prevented a verdict. */
const heard = (answers: readonly ShadowAnswer[]) =>
  answers.map((answer) => ('fault' in answer ? answer.fault : `${answer.outcome.kind} ${answer.outcome.rules.join()}`));

describe('the evaluated drafts', () => {
  it('are an empty list without lanes', () => {
    expect(ask([])).toEqual([]);
  });

  it('apply their own tool declarations, and count no failures after a verdict', () => {
    const lane = laneOf(allows);
    const [answer] = ask([lane]);
    expect(answer).toMatchObject({
      ...{ row: lane.row, policy: allows, unfit: null, relations: null },
      ...{ intent: { tool: 'files.read', effect_level: 'E1' }, outcome: { kind: 'allow', rules: ['all'] } },
    });
    expect(lane.failures).toBe(0);
  });

  it('report a call as malformed when its tool name only looks like a name in the draft', () => {
    const [answer] = ask([laneOf(draft({ tools: { 'Files.read': { effect_level: 'E1' } } }))]);
    expect(answer).toMatchObject({ unfit: 'The name looks like "Files.read" but is a different name.' });
    const patterned = draft({}, [{ id: 'some', effect: 'deny', match: { tool: ['Files.*'] } }]);
    expect(ask([laneOf(patterned)])).toMatchObject([
      { unfit: 'The name looks like "Files.*" but is a different name.' },
    ]);
  });

  it('return a fault instead of a verdict while they are being compiled, or after too many failures', () => {
    expect(ask([laneOf(null), laneOf(allows, 10), laneOf(null, 10), laneOf(allows, 9)])).toMatchObject([
      { fault: 'not_ready', row: { lane: 'draft' } },
      { fault: 'suspended', row: { lane: 'draft' } },
      { fault: 'suspended' },
      { outcome: { kind: 'allow' } },
    ]);
  });

  it('count their own failures, and do not affect others', () => {
    const broken = laneOf({ ...allows, index: null as never });
    expect(heard(ask([broken, laneOf(allows)]))).toEqual(['failed', 'allow all']);
    expect(ask([broken])).toMatchObject([{ row: broken.row }]);
    expect(broken.failures).toBe(5);
  });

  it('receive the time, and the relations of the decision', () => {
    const relations = { viewer: { object: 'file:{tool}', relation: 'viewer', subject: 'user:{principal}' } };
    const rules = [{ id: 'viewers', effect: 'allow', when: `relations.viewer && now == timestamp("${now}")` }];
    const views = draft({ relations }, rules);
    const question = { object: 'file:files.read', relation: 'viewer', subject: 'user:agent' };
    const needed = { questions: new Map([['sees', question]]), required: [] };
    const snapshot = { kind: 'read', hash: null, relations: { sees: true }, required: [] } as const;
    expect(heard(ask([laneOf(views)], { relations: { needed, relations: snapshot } }))).toEqual(['allow viewers']);
    const lane = laneOf(views);
    expect(ask([lane])).toEqual([{ row: lane.row, fault: 'not_ready' }]);
    expect(lane.failures).toBe(3); // `not_ready` counts neither as a fault of the draft nor as a success
  });
});

describe('the work of drafts', () => {
  const heavyRules = Array.from({ length: 100 }, (_, nth) => {
    return { id: `r${nth}`, effect: 'allow', when: `args.list.exists(x, x == ${nth})` };
  });
  const heavy = draft({}, heavyRules);
  const args = { list: Array.from({ length: 200 }, () => -1) };

  it('has one limit: each draft gets an equal share of what the drafts before it left', () => {
    const { intent } = normalise(hasher, callOf({}, { args }), { resolution: null, policy: heavy });
    const unbounded = new Work(1_000_000);
    evaluateRulesWithin(unbounded, { policy: heavy, intent, environment: { now, relations: {} } });
    const taken = 1_000_000 - unbounded.left;
    expect([taken > 20_000, taken < 39_000]).toEqual([true, true]); // more than half of the limit for all drafts
    const [light, one, second] = [laneOf(allows), laneOf(heavy), laneOf(heavy)];
    expect(heard(ask([one], {}, args))).toEqual(['deny ']);
    expect(heard(ask([light, one], {}, args))).toEqual(['allow all', 'deny ']);
    expect(heard(ask([one, light], {}, args))).toEqual(['work_exceeded', 'allow all']);
    expect(heard(ask([one, second], {}, args))).toEqual(['work_exceeded', 'work_exceeded']);
    expect([one.failures, second.failures]).toEqual([2, 4]);
    expect(ask([light, one, second], {}, args)[2]).toEqual({ row: second.row, fault: 'work_exceeded' });
  });

  it('includes comparing an unregistered name with their patterns', () => {
    const tool = Array.from({ length: 1_500 }, (_, nth) => `*${'b'.repeat(240)}${1_000 + nth}`);
    const patterned = draft({}, [
      { id: 'all', effect: 'allow' },
      { id: 'no', effect: 'deny', match: { tool, action: ['other'] } },
    ]);
    const call = callOf({}, { tool: 'b'.repeat(256) });
    const { intent } = normalise(hasher, call, { resolution: null, policy: null });
    const registered = { kind: 'registered', tool: intent.tool, effectLevel: null, host: null } as ToolResolution;
    const lanes = () => [laneOf(patterned), laneOf(patterned)];
    expect(heard(ask(lanes(), { call, intent }))).toEqual(['work_exceeded', 'work_exceeded']);
    expect(heard(ask(lanes(), { call, intent, resolution: registered }))).toEqual(['allow all', 'allow all']);
    expect(heard(ask(lanes()))).toEqual(['allow all', 'allow all']);
  });
});

describe('the relations of a draft', () => {
  const relation = (name: string) => ({ object: 'file:{args.id}', relation: name, subject: 'user:{principal}' });
  const [viewer, owner] = [relation('viewer'), { ...relation('owner'), required: { tool: ['files.read'] } }];
  const reads = [{ id: 'r', effect: 'allow', when: 'relations.sees' }];
  const reading = draft({ relations: { sees: viewer, owns: owner } }, reads);
  const intentWith = (args: object) =>
    normalise(hasher, callOf({}, { args: args as never }), { resolution: null, policy: null }).intent;
  const send = (name: string) => ({ object: 'file:a', relation: name, subject: 'user:agent' });
  const questions = (...named: [string, string][]) => new Map(named.map(([name, of]) => [name, send(of)]));
  const reportOf = (relations: Record<string, boolean>) =>
    ({ kind: 'read', hash: null, relations, required: ['other'] }) as const;
  const both = { questions: questions(['v', 'viewer'], ['o', 'owner']), required: [] };

  it('are none when its rules read none', () => {
    expect(draftRelations(allows, intentWith({ id: 'a' }), { needed: both, relations: reportOf({}) })).toBeNull();
  });

  it('are those of the decision, under the names of the draft', () => {
    const of = (
      needed: typeof both | null,
      snapshot: Parameters<typeof draftRelations>[2]['relations'],
      args = { id: 'a' },
    ) => draftRelations(reading, intentWith(args), { needed, relations: snapshot });
    const required = ['owns'];
    expect(of(both, reportOf({ v: true, o: false }))).toEqual({ relations: { sees: true, owns: false }, required });
    expect(of(both, reportOf({ v: false }))).toStrictEqual({ relations: { sees: false }, required });
    expect(of(both, { kind: 'unavailable' })).toEqual({ relations: {}, required });
    expect(of({ ...both, questions: questions(['v', 'viewer']) }, reportOf({ v: true }))).toBe('not_asked');
    expect(of(null, reportOf({}))).toBe('not_asked');
    const unnamed = { ...both, questions: new Map([['v', { ...send('viewer'), object: 'file:b' }]]) };
    expect(of(unnamed, reportOf({ v: true }))).toBe('not_asked');
  });

  it('omit a relation whose variables the call lacks', () => {
    const unfilled = { questions: new Map([['v', null]]), required: [] };
    const relations = draftRelations(reading, intentWith({}), { needed: unfilled, relations: reportOf({ v: true }) });
    expect(relations).toEqual({ relations: {}, required: ['owns'] });
  });

  it('have the age and the availability of the relations of the decision', () => {
    const value: RelationshipFact = { snapshot_hash: 'h', age_ms: 1, age_max_ms: 2, relations: {}, required: ['x'] };
    const read = { relations: { sees: true }, required: ['owns'] };
    expect(draftFact(null, { state: 'known', value })).toEqual({ state: 'not_applicable' });
    expect(draftFact(read, { state: 'known', value })).toEqual({ state: 'known', value: { ...value, ...read } });
    const away = { state: 'unavailable', detail: 'away' } as const;
    expect(draftFact(read, away)).toBe(away);
  });
});

describe('the lanes of a decision', () => {
  const row = (lane: string, sinceMs = 1) => ({ ...laneOf(allows, 0, lane).row, sinceMs });
  const answers = (...rows: LaneRow[]) => rows.map((one): ShadowAnswer => ({ row: one, fault: 'failed' }));

  it('count as evaluated only if each has an answer, in order', () => {
    const [a, b] = [row('a'), row('b')];
    expect(areAsked([], [])).toBe(true);
    expect(areAsked([a, b], answers(row('a'), row('b')))).toBe(true);
    expect(areAsked([a, b], answers(a))).toBe(false);
    expect(areAsked([a], answers(a, b))).toBe(false);
    expect(areAsked([], answers(a))).toBe(false);
    expect(areAsked([a, b], answers(a, row('b', 2)))).toBe(false);
    expect(areAsked([a, b], answers(b, a))).toBe(false);
  });

  it('validate the same arguments against the same schema only once', () => {
    const requests: unknown[] = [];
    const validate = validatedOnce((schema, args) => {
      requests.push([schema, args]);
      return requests.length === 1 ? null : `fault ${requests.length}`;
    });
    const [schema, args] = [{ type: 'object' }, { id: 'a' }];
    expect([validate(schema, args), validate(schema, args)]).toEqual([null, null]);
    expect([validate(schema, { ...args }), validate({ ...schema }, args)]).toEqual(['fault 2', 'fault 3']);
    expect(requests).toHaveLength(3);
    const last = { type: 'object' };
    expect([validate(last, args), validate(last, { ...args }), requests.length]).toEqual(['fault 4', 'fault 5', 5]);
  });
});
