import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Digest, PlainJson } from '@countersign/contracts';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { evaluateRules, readFacts, restoreIntent, uncoveredReads } from '../src/index.ts';
import type { Intent } from '../src/index.ts';
import { frozenNow, intentOf, policyOf, viewer } from './situation.ts';

const environment = { now: frozenNow, relations: { viewer: true } };
const conditions = [
  'has(args.a.b)',
  'args.a.b == 1',
  'args.a.b.c == 1',
  'has(args.a)',
  'args.list.exists(x, x == 1)',
  'context.k == "v"',
  'relations.viewer',
  'size(args) > 1',
  'tool == null',
  'now.getFullYear() == 2026',
];

function recordOf(intent: Intent, facts: Record<string, unknown>): BoundaryRecord {
  const { tenant, principal, session, action, tool, resource, effect_level, args_hash, intent_hash } = intent;
  const recorded = { action, tool, resource, effect_level, args_hash, intent_hash, facts };
  return {
    tenant_id: tenant,
    principal_id: principal,
    session_id: session,
    created_at: frozenNow,
    intent: recorded,
  } as unknown as BoundaryRecord; // the members that replay reads
}

describe('a call in its record', () => {
  it('is restored with nested members, in any order of the facts', () => {
    const facts = { 'args.to.country': 'CH', 'args.to': {}, 'args.list': [1], 'relations.viewer': null };
    const replayed = restoreIntent(recordOf(intentOf(), facts));
    expect(replayed).toMatchObject({ intent: { args: { to: { country: 'CH' }, list: [1] } } });
    expect(replayed).toMatchObject({ environment: { relations: {} } });
  });

  it('has no facts inside a value that is not an object', () => {
    const policy = policyOf([{ id: 'r', effect: 'allow', when: 'args.to.length == 4 || args.to.country == "CH"' }]);
    const read = (to: PlainJson) => readFacts(policy, intentOf({ args: { to } }), environment);
    for (const to of ['text', null, ['a'], 7]) expect([to, read(to)]).toEqual([to, { 'args.to': null }]);
    expect(read({ country: null })).toEqual({ 'args.to': {}, 'args.to.country': null });
  });

  it('has the members inside a recorded member', () => {
    const reading = (when: string) => policyOf([{ id: 'r', effect: 'allow', when }]);
    expect(uncoveredReads(reading('has(args.to.country)'), reading('has(args.to)'))).toEqual([]);
    expect(uncoveredReads(reading('has(args.tom)'), reading('has(args.to)'))).toEqual(['args.tom']);
    expect(uncoveredReads(reading('has(args.to)'), reading('has(args.to.country)'))).toEqual(['args.to']);
  });

  it('has the recorded outcome again from the recorded facts alone', () => {
    const value = fc.constantFrom(1, null, 'v', {}, { b: 1 }, { b: { c: 1 }, secret: 2 }, [1], [{}]);
    const calls = fc.record({
      args: fc.dictionary(fc.constantFrom('a', 'list', 'other'), value),
      context: fc.dictionary(fc.constantFrom('k', 'z'), value),
      tool: fc.constantFrom(null, 'x.y'),
    });
    fc.assert(
      fc.property(calls, fc.subarray(conditions, { minLength: 1 }), (call, whens) => {
        const policy = policyOf(
          whens.map((when, index) => ({ id: `r${index}`, effect: index % 2 === 0 ? 'allow' : 'deny', when })),
          [],
          { viewer },
        );
        const intent = intentOf(call);
        const facts = JSON.parse(JSON.stringify(readFacts(policy, intent, environment))) as Record<string, unknown>; // as stored
        const replayed = restoreIntent(recordOf(intent, facts));
        if (replayed.kind !== 'restored') throw new Error('nothing is missing');
        expect(evaluateRules(policy, replayed.intent, replayed.environment)).toEqual(
          evaluateRules(policy, intent, environment),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('has the facts of the read set and no others', () => {
    const policy = policyOf([{ id: 'r', effect: 'allow', when: 'args.a.b == 1' }]);
    expect(readFacts(policy, intentOf({ args: { a: { b: 1, secret: 'x' }, password: 'y' } }), environment)).toEqual({
      'args.a': {},
      'args.a.b': 1,
    });
  });

  it('is restored with the block, the time and the relations of the record, and no other relation', () => {
    const record = recordOf(intentOf(), { 'relations.viewer': true, now: '2026-02-01T00:00:00.000Z' });
    expect(restoreIntent({ ...record, tool_blocked: true })).toMatchObject({
      environment: { relations: { viewer: true }, now: '2026-02-01T00:00:00.000Z' },
      block: { state: 'known', value: { tool_blocked: true } },
    });
    expect(restoreIntent(recordOf(intentOf(), { 'relations.viewer': 'yes', now: 7 }))).toMatchObject({
      environment: { relations: {}, now: frozenNow },
      block: { state: 'known', value: { tool_blocked: false } },
    });
  });

  it('cannot be restored if only the hash of a fact was stored, and that fact is named', () => {
    const facts = { 'args.small': 1 };
    const record = recordOf(intentOf({ args: {} }), facts);
    const capped_facts = { 'args.text': { hash: `sha256:${'0'.repeat(64)}` as Digest, bytes: 5000 } }; // a digest by its form
    const capped = { ...record, intent: { ...record.intent, capped_facts } };
    expect(restoreIntent(capped)).toEqual({ kind: 'UNREPLAYABLE', missing: ['args.text'] });
  });

  it('is restored with an argument that looks like a hash', () => {
    const policy = policyOf([{ id: 'r', effect: 'allow', when: 'args.text.bytes == 5000.0' }]);
    const intent = intentOf({ args: { text: { hash: `sha256:${'0'.repeat(64)}`, bytes: 5000 } } });
    const replayed = restoreIntent(recordOf(intent, readFacts(policy, intent, environment)));
    if (replayed.kind !== 'restored') throw new Error('nothing is missing');
    expect(evaluateRules(policy, replayed.intent, replayed.environment)).toMatchObject({ kind: 'allow' });
  });

  it('lacks members that another policy reads, and these are named', () => {
    const recorded = policyOf([{ id: 'r', effect: 'allow', when: 'args.a.b == 1' }]);
    const changed = policyOf([{ id: 'r', effect: 'allow', when: 'args.a.b == 1 && args.amount > 1 && tool == "x"' }]);
    expect(uncoveredReads(changed, recorded)).toEqual(['args.amount']);
  });

  it('lacks a relation of the same name with another query', () => {
    const rule = { id: 'r', effect: 'allow', when: 'relations.viewer' };
    const recorded = policyOf([rule], [], { viewer });
    expect(uncoveredReads(policyOf([rule, { id: 'other', effect: 'deny' }], [], { viewer }), recorded)).toEqual([]);
    const widened = policyOf([rule], [], { viewer: { ...viewer, object: 'document:any' } });
    expect(uncoveredReads(widened, recorded)).toEqual(['relations.viewer']);
    // An argument of the same name is not a relation.
    const reading = [{ id: 'r', effect: 'allow', when: 'args.viewer == 1' }];
    const ofArgument = policyOf(reading, [], { viewer });
    expect(
      uncoveredReads(policyOf(reading, [], { viewer: { ...viewer, object: 'document:any' } }), ofArgument),
    ).toEqual(['relations.viewer']);
  });
});
