import { describe, expect, it } from '@jest/globals';
import { evaluateRules, mistakenFor, neededRelations } from '../src/index.ts';
import { bundleOf, frozenNow, intentOf, policyOf, viewer } from './situation.ts';

const rule = (when: string, match = {}) => ({ id: 'r', effect: 'allow', when, match });
const outcomeOf = (relation: object, call: object) => {
  const policy = policyOf([rule('relations.asked')], [], { asked: relation });
  return neededRelations(policy, intentOf(call))?.questions.get('asked');
};

describe('a relation of a bundle', () => {
  it('is queried with the values of the call', () => {
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
    ['is not a text', { id: { toString: 1 } }],
    ['is a fraction', { id: 1.5 }],
    ['is inherited', JSON.parse('{"__proto__":{"id":"42"}}') as object],
    ['names a group of subjects', { id: '42#viewer' }],
    ['ends with a space', { id: '42 ' }],
    ['contains invisible characters', { id: '4\u200b2' }],
    ['is "*"', { id: '*' }],
    ['is too long for a name', { id: 'x'.repeat(400) }],
  ])('cannot be queried if a value %s', (_, args) => {
    expect(outcomeOf(viewer, { args })).toBeNull();
  });

  it('applies to the caller, and never to a group that the caller names', () => {
    expect(outcomeOf({ ...viewer, object: 'document:1' }, { principal: 'eng#member' })).toBeNull();
  });

  it.each([
    ['of a list', { in: ['a'] }],
    ['of null', { in: null }],
    ['of a text', { in: 'a' }],
  ])('cannot be queried with a member %s', (_what, args) => {
    expect(outcomeOf({ ...viewer, object: 'document:{args.in.length}' }, { args })).toBeNull();
  });

  it('cannot be queried if one of two values is invalid', () => {
    const relation = { object: 'document:{args.a}{args.b}', relation: 'viewer', subject: 'agent:x' };
    expect(outcomeOf(relation, { args: { a: '#', b: 'x' } })).toBeNull();
    expect(outcomeOf(relation, { args: { a: 'w', b: 'x' } })).toMatchObject({ object: 'document:wx' });
  });

  it('is required for a hosted tool in every confusable spelling, and for a called tool in its own spelling', () => {
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

  it('is needed only for calls that require it, or that are covered by a rule that reads it', () => {
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

  it('denies a call if a rule reads it and it has no result', () => {
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
    ['VARIABLE_UNKNOWN', 'a rule reads an undeclared relation', 'relations.owner', { viewer }],
    ['EXPRESSION_INVALID', 'a rule reads all relations', 'size(relations) > 0', { viewer }],
    ['EXPRESSION_INVALID', 'a rule reads a relation that the call names', 'relations[args.id]', { viewer }],
    ['EXPRESSION_INVALID', 'a rule loops over relations', 'relations.all(name, name == "viewer")', { viewer }],
    ['VARIABLE_UNKNOWN', 'a rule reads an inherited member', 'relations.constructor', { viewer }],
    ['RELATION_INVALID', 'a placeholder is unknown', 'true', { viewer: { ...viewer, object: 'document:{now}' } }],
    ['RELATION_INVALID', 'a placeholder is not closed', 'true', { viewer: { ...viewer, object: 'document:{args.id' } }],
    [
      'RELATION_INVALID',
      'a placeholder reads a prototype',
      'true',
      { viewer: { ...viewer, object: 'a:{args.__proto__}' } },
    ],
    ['RELATION_INVALID', 'an object has no type', 'true', { viewer: { ...viewer, object: 'document' } }],
    ['RELATION_INVALID', 'an object is a group', 'true', { viewer: { ...viewer, object: 'group:a#member' } }],
  ])('is rejected with %s if %s', (code, _, when, relations) => {
    expect(() => policyOf([rule(when)], [], relations)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['/rules/0/when', 'relations.owner', { viewer }],
    ['/rules/0/when', 'relations.viewer.since == 1', { viewer }],
    ['/relations/viewer/object', 'true', { viewer: { ...viewer, object: 'document{args.id}' } }],
    ['/relations/viewer/object', 'true', { viewer: { ...viewer, object: '{args.id}document' } }],
    ['/relations/viewer/subject', 'true', { viewer: { ...viewer, subject: 'agent:{now}' } }],
  ])('is rejected with its place, %s: %s', (path, when, relations) => {
    expect(() => policyOf([rule(when)], [], relations)).toThrow(expect.objectContaining({ path }));
  });

  it('ignores hosted tools if it names no tool, and is not required for a called tool in a different spelling', () => {
    const requiredBy = (required: object, call: object) => {
      const policy = policyOf([rule('true')], [], { staff: { ...viewer, object: 'group:staff', required } });
      return neededRelations(policy, intentOf(call))?.required ?? [];
    };
    const hosting = { action: 'model.call', tool: null, args: { hosted_tools: ['crm.read'] } };
    expect(requiredBy({ effect_level: ['E4'] }, hosting)).toEqual([]);
    expect(requiredBy({ effect_level: ['E1'] }, hosting)).toEqual(['staff']);
    expect(requiredBy({ tool: ['crm.*'] }, { tool: 'crm__read' })).toEqual([]);
  });

  it('is one of at most 16', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`viewer_${index}`, viewer]));
    expect(() => bundleOf([], [], many(16))).not.toThrow();
    expect(() => bundleOf([], [], many(17))).toThrow('may name at most 16 relations');
  });
});
