import { describe, expect, it } from '@jest/globals';
import { isSchemaPrepared, prepareSchema, validateWithAjv } from '../src/index.ts';

describe('validateWithAjv', () => {
  const draft7 = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { list: { items: [{ type: 'string' }] } },
  };
  const draft2020 = { type: 'object', properties: { list: { prefixItems: [{ type: 'string' }] } } };
  it.each([draft7, draft2020])('validates by the dialect of the schema', (schema) => {
    expect(validateWithAjv(schema, { list: ['a'] })).toBeNull();
    expect(validateWithAjv(schema, { list: [1] })).toBe('"list.0" must be string');
  });

  const uncompilable = 'the schema cannot be compiled';
  const inapplicable = 'the schema could not be applied';
  const hostile: [string, Record<string, unknown>, string][] = [
    ['has an unknown type', { type: 'nonsense' }, uncompilable],
    ['has a keyword with a value of the wrong type', { properties: { a: { minLength: 'x' } } }, uncompilable],
    ['has a negative bound', { maxProperties: -1 }, uncompilable],
    ['is invalid in its dialect', { ...draft7, $defs: {}, items: { $ref: 5 } }, uncompilable],
    ['refers to a remote schema', { $ref: 'https://example.org/schema.json' }, uncompilable],
    ['refers to a missing definition', { $ref: '#/$defs/none' }, uncompilable],
    ['refers to itself endlessly', { $ref: '#' }, inapplicable],
    ['is asynchronous', { $async: true, type: 'object' }, inapplicable],
    ['has an asynchronous part', { allOf: [{ $async: true, type: 'string' }] }, uncompilable],
    [
      'has a pattern that the linear engine does not support',
      { properties: { a: { pattern: '(?=x)y' } } },
      uncompilable,
    ],
    ['has an unsupported pattern for names', { patternProperties: { '(?=x)y': {} } }, uncompilable],
  ];
  it.each(hostile)('rejects arguments under a schema that %s', (_what, schema, fault) => {
    expect(validateWithAjv(schema, { a: 'y' })).toBe(fault);
    expect(validateWithAjv(schema, { a: 'y' })).toBe(fault);
  });

  it.each<[Record<string, unknown>, Parameters<typeof validateWithAjv>[1], string]>([
    [{ required: ['path'] }, {}, '"path" is missing'],
    [{ properties: { to: { required: ['a/b'] } } }, { to: {} }, '"to.a/b" is missing'],
    [{ additionalProperties: false }, { pth: 1 }, '"pth" is not in the schema'],
    [{ unevaluatedProperties: false }, { pth: 1 }, '"pth" is not in the schema'],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, '"a" must be string'],
    [{ properties: { 'a/b~c': { items: { type: 'string' } } } }, { 'a/b~c': ['x', 1] }, '"a/b~c.1" must be string'],
    [{ properties: { a: { enum: ['x'] } } }, { a: 'y' }, '"a" must be one of the values that the schema lists'],
    [{ properties: { a: { pattern: '^x' } } }, { a: 'y' }, '"a" does not match the pattern of the schema'],
    [{ properties: { a: { uniqueItems: true } } }, { a: [1, 1] }, '"a" must not contain the same item twice'],
    [{ properties: { a: false } }, { a: 1 }, '"a" is not allowed by the schema'],
    [{ properties: { a: { minimum: 3 } } }, { a: 1 }, '"a" must be >= 3'],
    [{ minProperties: 1 }, {}, 'the arguments must NOT have fewer than 1 properties'],
    [{ additionalProperties: false }, { ['x'.repeat(500)]: 1 }, `"${'x'.repeat(100)}…" is not in the schema`],
    [{ required: ['\u202e"\n'] }, {}, '"\u202e\\"\\n" is missing'],
  ])('names the member at fault: %j', (schema, args, fault) => {
    expect(validateWithAjv(schema, args)).toBe(fault);
  });

  it('ignores formats and unknown keywords', () => {
    const schema = { 'x-note': 1, properties: { a: { type: 'string', format: 'email' }, b: { format: 'unheard of' } } };
    expect(validateWithAjv(schema, { a: 'no address', b: 'x' })).toBeNull();
    expect(validateWithAjv(schema, { a: 1 })).toBe('"a" must be string');
  });

  it('compiles a schema only once, in advance or with its first call', () => {
    const [before, within] = [{ type: 'object' }, { type: 'object' }];
    expect([isSchemaPrepared(before), isSchemaPrepared(within)]).toEqual([false, false]);
    prepareSchema(before);
    validateWithAjv(within, {});
    expect([isSchemaPrepared(before), isSchemaPrepared(within)]).toEqual([true, true]);
    // The schema is already compiled, so this change has no effect.
    Object.assign(before, { required: ['a'] });
    prepareSchema(before);
    expect(validateWithAjv(before, {})).toBeNull();
  });

  it('accepts two schemas with the same $id', () => {
    expect(validateWithAjv({ $id: 'https://example.org/x', type: 'object' }, {})).toBeNull();
    expect(validateWithAjv({ $id: 'https://example.org/x', required: ['a'] }, {})).toBe('"a" is missing');
  });

  it('keeps the patterns of two schemas apart', () => {
    expect(validateWithAjv({ properties: { a: { pattern: '^x$' } } }, { a: 'x' })).toBeNull();
    expect(validateWithAjv({ properties: { a: { pattern: '^y$' } } }, { a: 'x' })).toContain('pattern');
  });

  it('rejects a schema whose references multiply without end', () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
      ]),
    );
    const schema = { $ref: '#/$defs/d0', $defs: { ...definitions, d40: { type: 'object' } } };
    expect(validateWithAjv(schema, {})).not.toBeNull();
  });

  it('matches a hostile pattern in linear time', () => {
    expect(validateWithAjv({ properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(50_000)}b` })).toContain(
      'pattern',
    );
    const name = `${'a'.repeat(5_000)}b`;
    expect(validateWithAjv({ patternProperties: { '^(a+)+$': false } }, { [name]: 1 })).toBeNull();
  });

  it('checks a list for duplicates in one pass', () => {
    const schema = { properties: { list: { type: 'array', items: { type: 'object' }, uniqueItems: true } } };
    const list = Array.from({ length: 50_000 }, (_, id) => ({ id }));
    // Comparing each item with every other one would take half a minute, and more work than a call may use.
    expect(validateWithAjv(schema, { list })).toBeNull();
    expect(validateWithAjv(schema, { list: [...list, { id: 7 }] })).toContain('twice');
  });

  it.each([draft7, draft2020])('compares the items of a list as JSON', (dialect) => {
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
