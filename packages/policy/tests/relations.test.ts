import { describe, expect, it } from '@jest/globals';
import { evaluateRules, mistakenFor, neededRelations } from '../src/index.ts';
import { bundleOf, frozenNow, intentOf, policyOf, viewer } from './situation.ts';

const rule = (when: string, match = {}) => ({ id: 'r', effect: 'allow', when, match });
const outcomeOf = (relation: object, call: object) => {
  const policy = policyOf([rule('relations.asked')], [], { asked: relation });
  return neededRelations(policy, intentOf(call))?.questions.get('asked');
};

describe('a relation of a bundle', () => {
  it('is asked for with what the call names', () => {
    expect(outcomeOf(viewer, { args: { id: '42' }, principal: 'ann@example.org' })).toEqual({
      object: 'document:42',
      relation: 'viewer',
      subject: 'agent:ann@example.org',
    });
    const ofGroup = { object: '{args.in.folder}', relation: 'reader', subject: 'group:{args.team}#member' };
    expect(outcomeOf(ofGroup, { args: { in: { folder: 'folder:a:b' }, team: 7 } })).toEqual({
      object: 'folder:a:b',
      relation: 'reader',
      subject: 'group:7#member',
    });
  });

  it.each([
    ['is absent', {}],
    ['is empty', { id: '' }],
    ['is no text', { id: { toString: 1 } }],
    ['is a fraction', { id: 1.5 }],
    ['is inherited', JSON.parse('{"__proto__":{"id":"42"}}') as object],
    ['would name a group of subjects', { id: '42#viewer' }],
    ['ends in a blank', { id: '42 ' }],
    ['holds invisible characters', { id: '4\u200b2' }],
    ['is everybody', { id: '*' }],
    ['is longer than a name', { id: 'x'.repeat(400) }],
  ])('cannot be asked for where a value %s', (_, args) => {
    expect(outcomeOf(viewer, { args })).toBeNull();
  });

  it('is of the caller and never of a group that the caller names', () => {
    expect(outcomeOf({ ...viewer, object: 'document:1' }, { principal: 'eng#member' })).toBeNull();
  });

  it.each([
    ['of a list', { in: ['a'] }],
    ['of nothing', { in: null }],
    ['of a text', { in: 'a' }],
  ])('cannot be asked for with a member %s', (_what, args) => {
    expect(outcomeOf({ ...viewer, object: 'document:{args.in.length}' }, { args })).toBeNull();
  });

  it('cannot be asked for where one of two values is none', () => {
    const relation = { object: 'document:{args.a}{args.b}', relation: 'viewer', subject: 'agent:x' };
    expect(outcomeOf(relation, { args: { a: '#', b: 'x' } })).toBeNull();
    expect(outcomeOf(relation, { args: { a: 'w', b: 'x' } })).toMatchObject({ object: 'document:wx' });
  });

  it('is required of a tool in every spelling: of what is called, and of what a model call lets its provider run', () => {
    const required = { tool: ['web_search', 'crm.*'] };
    const policy = policyOf([rule('true')], [], { staff: { ...viewer, object: 'group:staff', required } });
    const requiredOf = (call: object) => neededRelations(policy, intentOf(call))?.required ?? [];
    for (const tool of ['Web_Search', 'CRM.read', 'crm__read']) {
      expect(mistakenFor(policy.tools, tool)).not.toBeNull();
      const hosted = { action: 'model.call', tool: null, args: { hosted_tools: ['other', tool] } };
      expect(requiredOf(hosted)).toEqual(['staff']);
    }
    expect(mistakenFor(policy.tools, 'crm.read')).toBeNull();
    expect(requiredOf({ tool: 'crm.read' })).toEqual(['staff']);
    expect(requiredOf({ action: 'model.call', tool: null, args: { hosted_tools: ['other'] } })).toEqual([]);
  });

  it('is read for calls that a rule which reads it covers, or that require it, and for no other', () => {
    const relations = { viewer, owner: { ...viewer, relation: 'owner', required: { tool: ['files.delete'] } } };
    const policy = policyOf([rule('relations.viewer', { tool: ['files.*'] })], [], relations);
    const needed = (tool: string) => {
      const { questions, required } = neededRelations(policy, intentOf({ tool, args: { id: '1' } })) ?? {};
      return [[...(questions?.keys() ?? [])], required];
    };
    expect(needed('files.read')).toEqual([['viewer'], []]);
    expect(needed('files.delete')).toEqual([['viewer', 'owner'], ['owner']]);
    expect(neededRelations(policy, intentOf({ tool: 'mail.send' }))).toBeNull();
    expect(policy.readSet).toEqual(['args.id', 'principal', 'relations.owner', 'relations.viewer', 'tool']);
  });

  it('that have no answer deny whatever a rule requires of them', () => {
    const policy = policyOf([rule('true'), { id: 'd', effect: 'deny', when: 'relations.viewer' }], [], { viewer });
    const outcome = (relations: Record<string, boolean>) =>
      evaluateRules(policy, intentOf(), { now: frozenNow, relations });
    expect(outcome({ viewer: false })).toMatchObject({ kind: 'allow' });
    expect(outcome({ viewer: true })).toMatchObject({ kind: 'deny', code: 'POLICY_DENIED' });
    expect(outcome({})).toMatchObject({ kind: 'deny', code: 'POLICY_EVALUATION_ERROR' });
  });

  it('does not hold in a test that does not name it', () => {
    const test = (relations: object, verdict: string) => ({
      name: verdict,
      intent: { action: 'tool.call', relations },
      expect: { verdict },
    });
    const rules = [rule('relations.viewer')];
    expect(() => policyOf(rules, [test({}, 'DENY'), test({ viewer: true }, 'ALLOW')], { viewer })).not.toThrow();
    expect(() => policyOf(rules, [test({}, 'ALLOW')], { viewer })).toThrow('test "ALLOW" failed');
  });

  it.each([
    ['VARIABLE_UNKNOWN', 'a rule reads it and it is not declared', 'relations.owner', { viewer }],
    ['EXPRESSION_INVALID', 'a rule reads all of them', 'size(relations) > 0', { viewer }],
    ['EXPRESSION_INVALID', 'a rule reads one that the call names', 'relations[args.id]', { viewer }],
    ['EXPRESSION_INVALID', 'a rule loops over them', 'relations.all(name, name == "viewer")', { viewer }],
    ['VARIABLE_UNKNOWN', 'it is inherited', 'relations.constructor', { viewer }],
    ['RELATION_INVALID', 'a place is unknown', 'true', { viewer: { ...viewer, object: 'document:{now}' } }],
    ['RELATION_INVALID', 'a place is not closed', 'true', { viewer: { ...viewer, object: 'document:{args.id' } }],
    ['RELATION_INVALID', 'a place has a prototype', 'true', { viewer: { ...viewer, object: 'a:{args.__proto__}' } }],
    ['RELATION_INVALID', 'an object has no type', 'true', { viewer: { ...viewer, object: 'document' } }],
    ['RELATION_INVALID', 'an object is a group', 'true', { viewer: { ...viewer, object: 'group:a#member' } }],
  ])('is refused with %s where %s', (code, _, when, relations) => {
    expect(() => policyOf([rule(when)], [], relations)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['/rules/0/when', 'relations.owner', { viewer }],
    ['/rules/0/when', 'relations.viewer.since == 1', { viewer }],
    ['/relations/viewer/object', 'true', { viewer: { ...viewer, object: 'document{args.id}' } }],
    ['/relations/viewer/object', 'true', { viewer: { ...viewer, object: '{args.id}document' } }],
    ['/relations/viewer/subject', 'true', { viewer: { ...viewer, subject: 'agent:{now}' } }],
  ])('is refused with the place of it, %s: %s', (path, when, relations) => {
    expect(() => policyOf([rule(when)], [], relations)).toThrow(expect.objectContaining({ path }));
  });

  it('is required of no hosted tool where it is required of no tool, and of no call that spells its tool otherwise', () => {
    const requiredBy = (required: object, call: object) => {
      const policy = policyOf([rule('true')], [], { staff: { ...viewer, object: 'group:staff', required } });
      return neededRelations(policy, intentOf(call))?.required ?? [];
    };
    const hosting = { action: 'model.call', tool: null, args: { hosted_tools: ['crm.read'] } };
    expect(requiredBy({ effect_level: ['E4'] }, hosting)).toEqual([]);
    expect(requiredBy({ effect_level: ['E1'] }, hosting)).toEqual(['staff']);
    expect(requiredBy({ tool: ['crm.*'] }, { tool: 'crm__read' })).toEqual([]);
  });

  it('is one of 16 at most', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`viewer_${index}`, viewer]));
    expect(() => bundleOf([], [], many(16))).not.toThrow();
    expect(() => bundleOf([], [], many(17))).toThrow('may name 16 relations');
  });
});
