import { describe, expect, it } from '@jest/globals';
import { validateWithAjv } from '../src/index.ts';

describe('validateWithAjv', () => {
  const draft7 = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { list: { items: [{ type: 'string' }] } },
  };
  const draft2020 = { type: 'object', properties: { list: { prefixItems: [{ type: 'string' }] } } };
  it.each([draft7, draft2020])('judges by the dialect of the schema', (schema) => {
    expect(validateWithAjv(schema, { list: ['a'] })).toBeNull();
    expect(validateWithAjv(schema, { list: [1] })).toContain('type');
  });

  const hostile: [string, Record<string, unknown>][] = [
    ['cannot be compiled', { type: 'nonsense' }],
    ['refers to a remote schema', { $ref: 'https://example.org/schema.json' }],
    ['refers to itself without end', { $ref: '#' }],
    ['is asynchronous', { $async: true, type: 'object' }],
    ['has an asynchronous part', { allOf: [{ $async: true, type: 'string' }] }],
    ['has a pattern that no linear engine has', { properties: { a: { pattern: '(?=x)y' } } }],
  ];
  it.each(hostile)('refuses arguments under a schema that %s', (_what, schema) => {
    expect(validateWithAjv(schema, { a: 'y' })).not.toBeNull();
  });

  it('lets two schemas of one $id live side by side', () => {
    expect(validateWithAjv({ $id: 'https://example.org/x', type: 'object' }, {})).toBeNull();
    expect(validateWithAjv({ $id: 'https://example.org/x', required: ['a'] }, {})).toContain('required');
  });

  it('keeps the patterns of two schemas apart', () => {
    expect(validateWithAjv({ properties: { a: { pattern: '^x$' } } }, { a: 'x' })).toBeNull();
    expect(validateWithAjv({ properties: { a: { pattern: '^y$' } } }, { a: 'x' })).toContain('pattern');
  });

  it('refuses a schema whose references multiply without end', () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
      ]),
    );
    const schema = { $ref: '#/$defs/d0', $defs: { ...definitions, d40: { type: 'object' } } };
    expect(validateWithAjv(schema, {})).not.toBeNull();
  });

  it('is not held up by a hostile pattern', () => {
    const started = performance.now();
    expect(validateWithAjv({ properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(50_000)}b` })).toContain(
      'pattern',
    );
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it('looks at each item of a list once to tell whether all differ', () => {
    const schema = { properties: { list: { type: 'array', items: { type: 'object' }, uniqueItems: true } } };
    const list = Array.from({ length: 50_000 }, (_, id) => ({ id }));
    const started = performance.now();
    expect(validateWithAjv(schema, { list })).toBeNull();
    expect(validateWithAjv(schema, { list: [...list, { id: 7 }] })).toContain('uniqueItems');
    expect(performance.now() - started).toBeLessThan(2000); // each against each other takes half a minute
  });

  it.each([draft7, draft2020])('knows what differs in JSON', (dialect) => {
    const unique = (list: unknown[], uniqueItems = true) =>
      validateWithAjv({ ...dialect, properties: { list: { uniqueItems } } }, { list } as never) === null;
    expect(unique([1, '1', [1], { a: 1 }, null, 'null', true, '"', ''])).toBe(true);
    expect([
      unique([1, 1.0]),
      unique([
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
      unique(['a', 'a']),
    ]).toEqual(Array(3).fill(false));
    expect(unique(['a', 'a'], false)).toBe(true);
  });

  it('quotes no value and changes no argument', () => {
    const args = { a: 'hunter2' };
    expect(validateWithAjv({ properties: { a: { const: 'x', default: 1 }, b: { default: 2 } } }, args)).not.toContain(
      'hunter2',
    );
    expect(args).toEqual({ a: 'hunter2' });
  });
});
