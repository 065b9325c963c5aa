import { describe, expect, it } from '@jest/globals';
import { compilePermission, type PermissionVariables } from '../src/index.ts';

const variables: PermissionVariables = {
  subject: { type: 'user', id: 'ann', properties: { role: 'admin' } },
  action: { name: 'write', properties: { soft: true } },
  resource: { type: 'record', id: '1', properties: { status: 'active' } },
  context: { ip: '::1' },
  relations: { owner: true, viewer: false },
};
const holds = (text: string, changes: Partial<PermissionVariables> = {}) =>
  compilePermission(text, '/x').holds({ ...variables, ...changes });

describe('a permission', () => {
  it('judges by relations, properties and context', () => {
    expect(holds('relations.owner && resource.properties.status == "active"')).toBe(true);
    expect(holds('relations.viewer || subject.properties.role == "admin"')).toBe(true);
    expect(holds('action.properties.soft == true && context.ip.startsWith("10.")')).toBe(false);
  });

  it('does not read relations from the context', () => {
    expect(compilePermission('context.relations.owner == true', '/x').relations).toEqual([]);
    expect(compilePermission('relations.relations', '/x').relations).toEqual(['relations']);
  });

  it('names the relations that it reads', () => {
    expect(compilePermission('relations.owner || (relations.viewer && relations.owner)', '/x').relations).toEqual([
      'owner',
      'viewer',
    ]);
  });

  it.each([
    ['a property is absent', 'resource.properties.secret == "x"'],
    ['a relation could not be queried', '!relations.banned'],
    ['its result is not a boolean', 'subject.properties.role'],
    ['the types do not match', 'action.properties.soft > 1'],
  ])('does not hold if %s', (_, text) => {
    expect(holds(text)).toBe(false);
  });

  it('does not hold if a list is too long for its loops', () => {
    const properties = { list: Array.from({ length: 1_000 }, (_, index) => index) };
    const text = 'resource.properties.list.exists(a, resource.properties.list.exists(b, a == b))';
    expect(holds(text, { resource: { properties: { list: [1, 2] } } })).toBe(true);
    expect(holds(text, { resource: { properties } })).toBe(false);
  });

  it.each([
    ['principal == "ann"', 'VARIABLE_UNKNOWN'],
    ['relations.exists(r, true)', 'EXPRESSION_INVALID'],
    ['relations["a b"]', 'EXPRESSION_INVALID'],
    ['subject.properties.name.matches(action.name)', 'REGEXP_REFUSED'],
    ['[1].map(subject, subject)', 'VARIABLE_UNKNOWN'],
    ['1 +', 'EXPRESSION_INVALID'],
    ['1', 'EXPRESSION_NOT_BOOLEAN'],
  ])('is refused: %s', (text, code) => {
    expect(() => compilePermission(text, '/x')).toThrow(expect.objectContaining({ code }));
  });
});
