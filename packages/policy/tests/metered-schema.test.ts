import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isSchemaPrepared, prepareSchema, validateWithAjv } from '../src/index.ts';
import { appliedKeywords, effortKeyword, meteredSchema, type Effort } from '../src/metered-schema.ts';
import { workedMs } from '@countersign/testkit/worked';

/** A schema of so many nodes: itself, and what is in its list. */
const ofNodes = (nodes: number) => ({ allOf: Array.from({ length: nodes - 1 }, () => ({})) });
const big = ofNodes(401);
const ofPatterns = (patterns: number) => ({
  allOf: Array.from({ length: 2 * patterns }, (_, nr) => ({ pattern: `^${nr % patterns}` })),
});

const longPatterns = (patterns: number) => ({
  allOf: Array.from({ length: patterns }, (_, nr) => ({ pattern: `${nr}`.padStart(300, 'ab') })),
});

describe('a schema whose cost can be told, or not', () => {
  it.each<[string, unknown, boolean]>([
    ['400 nodes', ofNodes(400), false],
    ['one node more', big, true],
    ['100 patterns, however often', ofPatterns(100), false],
    ['one pattern more', ofPatterns(101), true],
    ['patterns of 3,000 instructions', longPatterns(9), false],
    ['one of them more', longPatterns(10), true],
    ['patterns of names beside', { ...ofPatterns(99), patternProperties: { a: {}, b: {} } }, true],
    ['no object', true, false],
    ['a big definition that nothing refers to', { $defs: { big }, definitions: { big } }, false],
    ['a reference to a big definition', { $ref: '#/$defs/big', $defs: { big } }, true],
    ['one to a definition of the old name', { $ref: '#/definitions/big', definitions: { big } }, true],
    ['an escaped reference', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': big } }, true],
    ['a reference to itself', { properties: { child: { $ref: '#' } } }, false],
    ['a reference to nothing', { $ref: '#/$defs/none/below' }, false],
    ['a reference into what is inherited', { $ref: '#/constructor/prototype' }, false],
    ['a reference to another document', { $ref: 'https://example.org/x' }, true],
    ['a reference to an anchor', { $ref: '#anchor' }, true],
    ['a dynamic reference', { items: { $dynamicRef: '#node' } }, true],
    ['a recursive reference', { items: { $recursiveRef: '#' } }, true],
    ['an identifier inside', { properties: { a: { $id: 'https://example.org/a' } } }, true],
    ['an identifier of its own', { $id: 'https://example.org/a' }, false],
    ['properties of these names', { properties: { $ref: {}, $dynamicRef: {}, $recursiveRef: {} } }, false],
  ])('%s', (_what, schema, isCostly) => {
    expect(meteredSchema(schema as never) === null).toBe(isCostly);
  });
});

describe('what judging one value takes', () => {
  const nothing = { value: 1, item: 0, member: 0, nameCharacter: 0, character: 0 };

  it.each<[string, object, object]>([
    ['nothing of its own', { type: 'object', title: 'x' }, {}],
    ['a schema that is applied', { not: {} }, { value: 2 }],
    ['each of a list', { anyOf: [{}, {}, {}] }, { value: 4 }],
    ['each of those by name, and the name', { dependentSchemas: { a: {}, b: {} } }, { value: 3.5 }],
    ['members that are looked for', { properties: { a: true, b: false, c: {} } }, { value: 4.75 }],
    ['members that are required', { required: ['a', 'b'] }, { value: 1.5 }],
    ['what others require', { dependentRequired: { a: ['b'] } }, { value: 1.25 }],
    ['the same by its old name, which may apply schemas too', { dependencies: { a: ['b'] } }, { value: 2.25 }],
    ['a constant of several parts', { const: { a: 12 } }, { value: 2 }],
    ['a constant of one part', { const: 'a long text that is one part' }, {}],
    ['no constant', { const: null }, {}],
    ['items', { items: {} }, { value: 2, item: 1 }],
    ['items in each way', { items: true, contains: true, additionalItems: true, unevaluatedItems: true }, { item: 4 }],
    ['other members', { additionalProperties: false }, { member: 1 }],
    ['names of members', { propertyNames: true }, { member: 1 }],
    ['members that nobody looked at', { unevaluatedProperties: false }, { member: 2 }],
    ['a length at most', { maxLength: 1 }, { character: 0.1 }],
    ['a length at least and at most', { minLength: 1, maxLength: 2 }, { character: 0.2 }],
    ['lists of nothing', { required: null, properties: null, patternProperties: null }, {}],
    ['numbers in the place of lists', { required: 3, properties: 'a', patternProperties: [] }, {}],
  ])('%s', (_what, schema, changes) => {
    expect(meteredSchema(schema as never)?.[effortKeyword]).toEqual({ ...nothing, ...changes });
  });

  it('each pattern of names, by the length of a name', () => {
    const effort = meteredSchema({ patternProperties: { '^a': {}, '^b': {} } })?.[effortKeyword] as Effort;
    expect(effort).toMatchObject({ value: 3, member: 1 });
    const one = meteredSchema({ patternProperties: { '^a': {} } })?.[effortKeyword] as Effort;
    expect(one.nameCharacter).toBeGreaterThan(0);
    expect(effort.nameCharacter).toBeCloseTo(2 * one.nameCharacter);
  });
});

const tooLong = 'judging them would take too long';
/** A text at the end of so many levels, which no schema below takes: so every way down is tried at each of them. */
const nested = (depth: number, around: (inner: unknown) => unknown): unknown =>
  depth === 0 ? 'end' : around(nested(depth - 1, around));
const inA = (inner: unknown) => ({ a: inner });
const inList = (inner: unknown) => [inner];
const self = { $ref: '#/$defs/self' };
const once = { properties: { a: self } };

describe('what judges arguments', () => {
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
  ])('is stopped where each level multiplies the work by %s, and not before', (_keyword, applied, around) => {
    const node = { type: ['object', 'array'], ...applied };
    const schema = { $defs: { self: { anyOf: [node, { ...node }, { ...node }] } }, properties: { root: self } };
    const judged = (depth: number) => validateWithAjv(schema, { root: nested(depth, around) } as never);
    expect(judged(3)).toMatch(/ at #/);
    const before = workedMs();
    expect(judged(28)).toBe(tooLong);
    expect(workedMs() - before).toBeLessThan(1_000); // without a bound it is a matter of weeks
  });

  it('is stopped where a schema leads to itself without looking at anything', () => {
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
      'patterns of names',
      { patternProperties: Object.fromEntries(numbered(100).map((nr) => [`^x${nr}`, {}])) },
      named(18_000),
    ],
    ['members', { allOf: numbered(190).map(() => ({ additionalProperties: { type: 'number' } })) }, named(9_000)],
    [
      'wholes that are told apart',
      { allOf: numbered(50).map(() => ({ properties: { l: { uniqueItems: true } } })) },
      { l: numbered(9_000) },
    ],
    [
      'wholes that are sought',
      { allOf: numbered(50).map((nr) => ({ properties: { l: { not: { enum: [[nr]] } } } })) },
      { l: numbered(9_000) },
    ],
    [
      'wholes that are compared',
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
    expect(
      validateWithAjv(schema, { rows: numbered(10_000).map((id) => ({ id: id === 9_999 ? 'x' : id })) }),
    ).toContain('type');
  });

  it('knows what is one of a list: numbers, texts, null, lists and objects in whatever order', () => {
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

/** Of the library: keywords that apply no schema, and say what one value is. */
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
/** Followed, or refused. */
const referring = ['$ref', '$dynamicRef', '$recursiveRef'];

it.each([
  ['draft-07', new Ajv()],
  ['2020-12', new Ajv2020()],
])(
  'each keyword of %s that applies a schema is followed, also those of a later version of the library',
  (_name, ajv) => {
    const { one, list, named } = appliedKeywords;
    const known = new Set([...judging, ...referring, ...one, ...list, ...named]);
    expect(Object.keys(ajv.RULES.keywords).filter((keyword) => !known.has(keyword))).toEqual([]);
  },
);

describe('the largest schemas that are compiled', () => {
  const members = (count: number, schema: (nth: number) => object) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`m${nth}`, schema(nth)]));
  const largest: [string, () => Record<string, unknown>][] = [
    [
      'of members',
      () => ({ properties: members(399, () => ({ type: 'string', maxLength: 9 })), additionalProperties: false }),
    ],
    ['of patterns', () => ({ properties: members(90, (nth) => ({ pattern: `^x${nth}-[a-z]{2,5}$` })) })],
  ];

  it.each(largest)('take no longer than others can wait: %s', (_, make) => {
    const times = Array.from({ length: 3 }, () => {
      const schema = make();
      const before = workedMs();
      prepareSchema(schema);
      return workedMs() - before;
    });
    expect(Math.min(...times)).toBeLessThan(150);
    expect(isSchemaPrepared(make())).toBe(false);
  });
});
