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
import { draftFact, draftRelations } from '../src/boundary/shadow-relations.ts';
import { areAsked, askDrafts, validatedOnce, type ShadowAnswer } from '../src/boundary/shadow.ts';
import { normalise } from '../src/call/normalise.ts';
import { ShadowDrafts, type LoadedLane } from '../src/policy/shadow-drafts.ts';
import type { LaneRow } from '../src/policy/shadow-lanes.ts';
import { notAsked } from '../src/relations/relation-source.ts';
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

type Asked = Parameters<typeof askDrafts>[2];
function ask(lanes: readonly LoadedLane[], change: Partial<Asked> = {}, args: object = {}) {
  const call = callOf({}, { args: args as never });
  const { intent } = normalise(hasher, call, { resolution: null, policy: null });
  const asked: Asked = { call, intent, resolution: null, now, relations: { needed: null, held: notAsked } };
  return askDrafts(source, lanes, { ...asked, ...change });
}
/** The verdict of each, or the reason why there is none. */
const heard = (answers: readonly ShadowAnswer[]) =>
  answers.map((answer) => ('fault' in answer ? answer.fault : `${answer.outcome.kind} ${answer.outcome.rules.join()}`));

describe('drafts that are asked', () => {
  it('are none where there are no lanes', () => {
    expect(ask([])).toEqual([]);
  });

  it('say what their rules say, by what they declare themselves, and are in good standing then', () => {
    const lane = laneOf(allows);
    const [answer] = ask([lane]);
    expect(answer).toMatchObject({
      ...{ row: lane.row, policy: allows, unfit: null, relations: null },
      ...{ intent: { tool: 'files.read', effect_level: 'E1' }, outcome: { kind: 'allow', rules: ['all'] } },
    });
    expect(lane.failures).toBe(0);
  });

  it('say what is wrong with a name that looks like one of theirs', () => {
    const [answer] = ask([laneOf(draft({ tools: { 'Files.read': { effect_level: 'E1' } } }))]);
    expect(answer).toMatchObject({ unfit: 'The name looks like "Files.read" and is another.' });
    const patterned = draft({}, [{ id: 'some', effect: 'deny', match: { tool: ['Files.*'] } }]);
    expect(ask([laneOf(patterned)])).toMatchObject([{ unfit: 'The name looks like "Files.*" and is another.' }]);
  });

  it('say nothing while they are compiled, or after they failed too often', () => {
    expect(ask([laneOf(null), laneOf(allows, 10), laneOf(null, 10), laneOf(allows, 9)])).toMatchObject([
      { fault: 'not_ready', row: { lane: 'draft' } },
      { fault: 'suspended', row: { lane: 'draft' } },
      { fault: 'suspended' },
      { outcome: { kind: 'allow' } },
    ]);
  });

  it('that fail count that, and leave the others alone', () => {
    const broken = laneOf({ ...allows, index: null as never });
    expect(heard(ask([broken, laneOf(allows)]))).toEqual(['failed', 'allow all']);
    expect(ask([broken])).toMatchObject([{ row: broken.row }]);
    expect(broken.failures).toBe(5);
  });

  it('are told the time, and the relations that the decision was told', () => {
    const relations = { viewer: { object: 'file:{tool}', relation: 'viewer', subject: 'user:{principal}' } };
    const rules = [{ id: 'viewers', effect: 'allow', when: `relations.viewer && now == timestamp("${now}")` }];
    const views = draft({ relations }, rules);
    const question = { object: 'file:files.read', relation: 'viewer', subject: 'user:agent' };
    const needed = { questions: new Map([['sees', question]]), required: [] };
    const held = { kind: 'read', hash: null, relations: { sees: true }, required: [] } as const;
    expect(heard(ask([laneOf(views)], { relations: { needed, held } }))).toEqual(['allow viewers']);
    const lane = laneOf(views);
    expect(ask([lane])).toEqual([{ row: lane.row, fault: 'not_ready' }]);
    expect(lane.failures).toBe(3); // it is neither a fault of the draft nor a success
  });
});

describe('the work of drafts', () => {
  const heavyRules = Array.from({ length: 100 }, (_, nth) => {
    return { id: `r${nth}`, effect: 'allow', when: `args.list.exists(x, x == ${nth})` };
  });
  const heavy = draft({}, heavyRules);
  const args = { list: Array.from({ length: 200 }, () => -1) };

  it('is shared: what one leaves is for those after it, and no more', () => {
    const { intent } = normalise(hasher, callOf({}, { args }), { resolution: null, policy: heavy });
    const unbounded = new Work(1_000_000);
    evaluateRulesWithin(unbounded, { policy: heavy, intent, environment: { now, relations: {} } });
    const taken = 1_000_000 - unbounded.left;
    expect([taken > 20_000, taken < 39_000]).toEqual([true, true]); // more than half of what there is for all
    const [light, one, other] = [laneOf(allows), laneOf(heavy), laneOf(heavy)];
    expect(heard(ask([one], {}, args))).toEqual(['deny ']);
    expect(heard(ask([light, one], {}, args))).toEqual(['allow all', 'deny ']);
    expect(heard(ask([one, light], {}, args))).toEqual(['work_exceeded', 'allow all']);
    expect(heard(ask([one, other], {}, args))).toEqual(['work_exceeded', 'work_exceeded']);
    expect([one.failures, other.failures]).toEqual([2, 4]);
    expect(ask([light, one, other], {}, args)[2]).toEqual({ row: other.row, fault: 'work_exceeded' });
  });

  it('is also to hold a name that is not registered against their patterns', () => {
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

describe('what a draft reads of relations', () => {
  const relation = (name: string) => ({ object: 'file:{args.id}', relation: name, subject: 'user:{principal}' });
  const [viewer, owner] = [relation('viewer'), { ...relation('owner'), required: { tool: ['files.read'] } }];
  const reads = [{ id: 'r', effect: 'allow', when: 'relations.sees' }];
  const reading = draft({ relations: { sees: viewer, owns: owner } }, reads);
  const intentWith = (args: object) =>
    normalise(hasher, callOf({}, { args: args as never }), { resolution: null, policy: null }).intent;
  const asked = (name: string) => ({ object: 'file:a', relation: name, subject: 'user:agent' });
  const questions = (...named: [string, string][]) => new Map(named.map(([name, of]) => [name, asked(of)]));
  const told = (relations: Record<string, boolean>) =>
    ({ kind: 'read', hash: null, relations, required: ['other'] }) as const;
  const both = { questions: questions(['v', 'viewer'], ['o', 'owner']), required: [] };

  it('is nothing where its rules read none', () => {
    expect(draftRelations(allows, intentWith({ id: 'a' }), { needed: both, held: told({}) })).toBeNull();
  });

  it('is what the decision was told under other names', () => {
    const of = (needed: typeof both | null, held: Parameters<typeof draftRelations>[2]['held'], args = { id: 'a' }) =>
      draftRelations(reading, intentWith(args), { needed, held });
    const required = ['owns'];
    expect(of(both, told({ v: true, o: false }))).toEqual({ relations: { sees: true, owns: false }, required });
    expect(of(both, told({ v: false }))).toStrictEqual({ relations: { sees: false }, required });
    expect(of(both, { kind: 'unavailable' })).toEqual({ relations: {}, required });
    expect(of({ ...both, questions: questions(['v', 'viewer']) }, told({ v: true }))).toBe('not_asked');
    expect(of(null, told({}))).toBe('not_asked');
    const unnamed = { ...both, questions: new Map([['v', { ...asked('viewer'), object: 'file:b' }]]) };
    expect(of(unnamed, told({ v: true }))).toBe('not_asked');
  });

  it('leaves out a question that the call does not fill', () => {
    const unfilled = { questions: new Map([['v', null]]), required: [] };
    const relations = draftRelations(reading, intentWith({}), { needed: unfilled, held: told({ v: true }) });
    expect(relations).toEqual({ relations: {}, required: ['owns'] });
  });

  it('is a fact as fresh as that of the decision', () => {
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

  it('were asked when each of them was, in their order', () => {
    const [a, b] = [row('a'), row('b')];
    expect(areAsked([], [])).toBe(true);
    expect(areAsked([a, b], answers(row('a'), row('b')))).toBe(true);
    expect(areAsked([a, b], answers(a))).toBe(false);
    expect(areAsked([a], answers(a, b))).toBe(false);
    expect(areAsked([], answers(a))).toBe(false);
    expect(areAsked([a, b], answers(a, row('b', 2)))).toBe(false);
    expect(areAsked([a, b], answers(b, a))).toBe(false);
  });

  it('hold arguments against a schema once', () => {
    const asked: unknown[] = [];
    const validate = validatedOnce((schema, args) => {
      asked.push([schema, args]);
      return asked.length === 1 ? null : `fault ${asked.length}`;
    });
    const [schema, args] = [{ type: 'object' }, { id: 'a' }];
    expect([validate(schema, args), validate(schema, args)]).toEqual([null, null]);
    expect([validate(schema, { ...args }), validate({ ...schema }, args)]).toEqual(['fault 2', 'fault 3']);
    expect(asked).toHaveLength(3);
    const last = { type: 'object' };
    expect([validate(last, args), validate(last, { ...args }), asked.length]).toEqual(['fault 4', 'fault 5', 5]);
  });
});
