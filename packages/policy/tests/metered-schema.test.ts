import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isSchemaPrepared, prepareSchema, validateWithAjv } from '../src/index.ts';
import { appliedKeywords, effortKeyword, meteredSchema, type Effort } from '../src/metered-schema.ts';
import { leastWorkMs } from '@countersign/testkit/worked';

/** A schema with this number of nodes: itself, and the items of its list. */
const ofNodes = (nodes: number) => ({ allOf: Array.from({ length: nodes - 1 }, () => ({})) });
const big = ofNodes(401);
const ofPatterns = (patterns: number) => ({
  allOf: Array.from({ length: 2 * patterns }, (_, nr) => ({ pattern: `^${nr % patterns}` })),
});

const longPatterns = (patterns: number) => ({
  allOf: Array.from({ length: patterns }, (_, nr) => ({ pattern: `${nr}`.padStart(300, 'ab') })),
});

describe('the limits of a schema:', () => {
  it.each<[string, unknown, boolean]>([
    ['permit 400 nodes', ofNodes(400), false],
    ['reject 401 nodes', big, true],
    ['permit 100 patterns that occur twice', ofPatterns(100), false],
    ['reject 101 patterns', ofPatterns(101), true],
    ['permit 9 patterns of 300 characters', longPatterns(9), false],
    ['reject 10 patterns of 300 characters', longPatterns(10), true],
    ['reject 99 patterns and two patterns for names', { ...ofPatterns(99), patternProperties: { a: {}, b: {} } }, true],
    ['permit a boolean schema', true, false],
    ['permit a big definition that nothing refers to', { $defs: { big }, definitions: { big } }, false],
    ['reject a reference to a big definition', { $ref: '#/$defs/big', $defs: { big } }, true],
    [
      'reject a reference to a big definition under the old keyword',
      { $ref: '#/definitions/big', definitions: { big } },
      true,
    ],
    [
      'reject an escaped reference to a big definition',
      { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': big } },
      true,
    ],
    ['permit a reference to itself', { properties: { child: { $ref: '#' } } }, false],
    ['permit a reference to a missing definition', { $ref: '#/$defs/none/below' }, false],
    ['permit a reference to an inherited member', { $ref: '#/constructor/prototype' }, false],
    ['reject a reference to another document', { $ref: 'https://example.org/x' }, true],
    ['reject a reference to an anchor', { $ref: '#anchor' }, true],
    ['reject a dynamic reference', { items: { $dynamicRef: '#node' } }, true],
    ['reject a recursive reference', { items: { $recursiveRef: '#' } }, true],
    ['reject an identifier of an inner schema', { properties: { a: { $id: 'https://example.org/a' } } }, true],
    ['permit an identifier of the whole schema', { $id: 'https://example.org/a' }, false],
    [
      'permit properties that are named like reference keywords',
      { properties: { $ref: {}, $dynamicRef: {}, $recursiveRef: {} } },
      false,
    ],
  ])('%s', (_what, schema, isCostly) => {
    expect(meteredSchema(schema as never) === null).toBe(isCostly);
  });
});

describe('the cost of judging one value', () => {
  const effortOf = (schema: object) => meteredSchema(schema as never)?.[effortKeyword] as Effort;
  const byName = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, nr) => [`^${nr}`, value]));
  const some = (keywords: string[]) => (count: number) =>
    Object.fromEntries(keywords.slice(0, count).map((keyword) => [keyword, true]));

  /** Schemas with a number of one kind of item, and the member of the effort that grows with it. */
  it.each<[string, keyof Effort, (count: number) => object]>([
    ['the schemas of a list', 'value', (count) => ({ anyOf: Array(count).fill({}) })],
    ['the named schemas', 'value', (count) => ({ dependentSchemas: byName(count, {}) })],
    ['the members in properties', 'value', (count) => ({ properties: byName(count, true) })],
    ['the required members', 'value', (count) => ({ required: Object.keys(byName(count, {})) })],
    ['the members in dependentRequired', 'value', (count) => ({ dependentRequired: byName(count, ['b']) })],
    ['the members in dependencies', 'value', (count) => ({ dependencies: byName(count, ['b']) })],
    ['the parts of a constant', 'value', (count) => ({ const: byName(count, 1) })],
    ['the items', 'item', some(['items', 'contains', 'additionalItems', 'unevaluatedItems'])],
    ['the additional members', 'member', some(['additionalProperties', 'propertyNames', 'unevaluatedProperties'])],
    ['the patterns for names', 'member', (count) => ({ patternProperties: byName(count, {}) })],
    ['the characters of names', 'nameCharacter', (count) => ({ patternProperties: byName(count, {}) })],
    ['the characters of a text with a length limit', 'character', some(['minLength', 'maxLength'])],
  ])('grows with each of %s', (_what, member, schema) => {
    const [none = NaN, one = NaN, two = NaN] = [0, 1, 2].map((count) => effortOf(schema(count))[member]);
    expect(one).toBeGreaterThan(none);
    expect(two).toBeGreaterThan(one);
  });

  it.each<[string, object]>([
    ['type and title', { type: 'object', title: 'x' }],
    ['a constant of one part', { const: 'a long text that is one part' }],
    ['a constant null', { const: null }],
    ['null in place of lists', { required: null, properties: null, patternProperties: null }],
    ['other types in place of lists', { required: 3, properties: 'a', patternProperties: [] }],
  ])('does not grow with %s', (_what, schema) => {
    expect(effortOf(schema)).toEqual(effortOf({}));
  });
});

const tooLong = 'checking the arguments would take too long';
/** A text inside this number of levels. No schema below accepts it, so every branch is tried at each level. */
const nested = (depth: number, around: (inner: unknown) => unknown): unknown =>
  depth === 0 ? 'end' : around(nested(depth - 1, around));
const inA = (inner: unknown) => ({ a: inner });
const inList = (inner: unknown) => [inner];
const self = { $ref: '#/$defs/self' };
const once = { properties: { a: self } };

describe('the validation of arguments', () => {
  it.each<[string, object, (inner: unknown) => unknown]>([
    ['properties', once, inA],
    ['additionalProperties', { additionalProperties: self }, inA],
    ['patternProperties', { patternProperties: { '^a': self } }, inA],
    ['unevaluatedProperties', { unevaluatedProperties: self }, inA],
    ['items', { items: self }, inList],
    ['prefixItems', { prefixItems: [self] }, inList],
    ['contains', { contains: self }, inList],
    ['unevaluatedItems', { unevaluatedItems: self }, inList],
    ['dependentSchemas', { dependentSchemas: { a: once } }, inA],
    ['dependencies', { dependencies: { a: once } }, inA],
    ['allOf', { allOf: [once] }, inA],
    ['oneOf', { oneOf: [once] }, inA],
    ['not', { not: { not: once } }, inA],
    ['if', { if: once, else: false }, inA],
    ['then', { if: true, then: once }, inA],
    ['else', { if: false, else: once }, inA],
  ])('is stopped if %s multiplies the work at each level, and not before', (_keyword, applied, around) => {
    const node = { type: ['object', 'array'], ...applied };
    const schema = { $defs: { self: { anyOf: [node, { ...node }, { ...node }] } }, properties: { root: self } };
    const judged = (depth: number) => validateWithAjv(schema, { root: nested(depth, around) } as never);
    expect(judged(3)).toMatch(/^"/);
    expect(judged(16)).toBe(tooLong);
  });

  it('is stopped if a schema refers to itself without reading a value', () => {
    expect(validateWithAjv({ $ref: '#' }, {})).toBe('the schema could not be applied');
  });

  const numbered = (length: number) => Array.from({ length }, (_, nr) => nr);
  const named = (length: number) => Object.fromEntries(numbered(length).map((nr) => [`k${nr}`, nr]));
  it.each<[string, object, object]>([
    [
      'branches',
      { properties: { l: { items: { anyOf: numbered(200).map((nr) => ({ const: nr })) } } } },
      { l: numbered(9_000).fill(199) },
    ],
    [
      'types',
      { properties: { l: { items: { anyOf: [...numbered(200).map(() => ({ type: 'string' })), {}] } } } },
      { l: numbered(9_000) },
    ],
    [
      'patterns for names',
      { patternProperties: Object.fromEntries(numbered(100).map((nr) => [`^x${nr}`, {}])) },
      named(18_000),
    ],
    ['members', { allOf: numbered(190).map(() => ({ additionalProperties: { type: 'number' } })) }, named(9_000)],
    [
      'list items that must be unique',
      { allOf: numbered(50).map(() => ({ properties: { l: { uniqueItems: true } } })) },
      { l: numbered(9_000) },
    ],
    [
      'lists that are compared with an enum',
      { allOf: numbered(50).map((nr) => ({ properties: { l: { not: { enum: [[nr]] } } } })) },
      { l: numbered(9_000) },
    ],
    [
      'lists that are compared with a constant',
      { properties: { l: { items: { not: { const: numbered(1_000) } } } } },
      { l: numbered(9_000) },
    ],
    ['characters of a pattern', { properties: { a: { pattern: 'a.{0,100}z' } } }, { a: `zb\n${'ab'.repeat(90_000)}` }],
    [
      'characters that are counted',
      { properties: { a: { allOf: numbered(50).map(() => ({ maxLength: 9e6 })) } } },
      { a: 'é'.repeat(90_000) },
    ],
  ])('is stopped by too many %s', (_what, schema, args) => {
    expect(validateWithAjv(schema as never, args as never)).toBe(tooLong);
  });

  it('judges ten thousand rows of a table', () => {
    const row = {
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 20 } },
      required: ['id'],
    };
    const schema = { properties: { rows: { type: 'array', items: row } } };
    expect(validateWithAjv(schema, { rows: numbered(10_000).map((id) => ({ id, name: 'x' })) })).toBeNull();
    expect(validateWithAjv(schema, { rows: numbered(10_000).map((id) => ({ id: id === 9_999 ? 'x' : id })) })).toBe(
      '"rows.9999.id" must be integer',
    );
  });

  it('finds numbers, texts, null, lists and objects in an enum, in any order of members', () => {
    const isOne = (of: unknown[], value: unknown) =>
      validateWithAjv({ properties: { a: { enum: of } } }, { a: value } as never) === null;
    expect([
      isOne([1, 'x', null], 1.0),
      isOne([1, 'x', null], null),
      isOne([[1]], [1]),
      isOne([{ a: 1, b: 2 }], { b: 2, a: 1 }),
    ]).toEqual(Array(4).fill(true));
    expect([
      isOne([1], '1'),
      isOne(['null'], null),
      isOne([[1]], [1, 1]),
      isOne([{ a: 1 }], {}),
      isOne([1], [1]),
    ]).toEqual(Array(5).fill(false));
  });
});

/** Keywords of the library that apply no schema and judge one value. */
const judging = [
  ...[
    '$async',
    '$dynamicAnchor',
    '$recursiveAnchor',
    '$schema',
    '$id',
    '$defs',
    '$vocabulary',
    '$comment',
    'definitions',
    'id',
  ],
  ...[
    'maximum',
    'minimum',
    'exclusiveMaximum',
    'exclusiveMinimum',
    'multipleOf',
    'maxLength',
    'minLength',
    'pattern',
    'format',
  ],
  ...[
    'maxProperties',
    'minProperties',
    'required',
    'dependentRequired',
    'maxItems',
    'minItems',
    'uniqueItems',
    'maxContains',
  ],
  ...[
    'minContains',
    'type',
    'nullable',
    'const',
    'enum',
    'title',
    'description',
    'default',
    'deprecated',
    'readOnly',
    'writeOnly',
  ],
  ...['examples', 'contentMediaType', 'contentEncoding', 'contentSchema'],
];
/** Keywords that are followed or rejected. */
const referring = ['$ref', '$dynamicRef', '$recursiveRef'];

it.each([
  ['draft-07', new Ajv()],
  ['2020-12', new Ajv2020()],
])('the cost covers every keyword of %s that applies a schema, in any version of the library', (_name, ajv) => {
  const { one, list, named } = appliedKeywords;
  const covered = new Set([...judging, ...referring, ...one, ...list, ...named]);
  expect(Object.keys(ajv.RULES.keywords).filter((keyword) => !covered.has(keyword))).toEqual([]);
});

describe('the largest permitted schemas', () => {
  const members = (count: number, schema: (nth: number) => object) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`m${nth}`, schema(nth)]));
  const largest: [string, () => Record<string, unknown>][] = [
    [
      'with members',
      () => ({ properties: members(399, () => ({ type: 'string', maxLength: 9 })), additionalProperties: false }),
    ],
    ['with patterns', () => ({ properties: members(90, (nth) => ({ pattern: `^x${nth}-[a-z]{2,5}$` })) })],
  ];

  it.each(largest)('compile without blocking other work: %s', async (_, make) => {
    expect(await leastWorkMs(() => prepareSchema(make()), { tries: 3 })).toBeLessThan(150);
    expect(isSchemaPrepared(make())).toBe(false);
  });
});
