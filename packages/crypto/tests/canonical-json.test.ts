import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalize as oracle } from 'json-canonicalize';
import { runInNewContext } from 'node:vm';
import {
  canonicalBytes,
  canonicalNumber,
  canonicalString,
  canonicalize,
  definedMembers,
  jsonDepthMax,
  parsePlainJson,
  parsePlainObject,
  parseStrictJson,
  utf8Bytes,
} from '../src/index.ts';
import type { JsonValue } from '../src/index.ts';
import { numberOfBits, refusal, vectorsOf } from './vector-files.ts';

type NumberVector = { numbers: { ieee754: string; canonical: string }[] };
type ValidVector = { text: string; canonical: string } | NumberVector;

const ampleLimits = { depthMax: 64, bytesMax: 100_000 };
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const nestedOnce = (depth: number): unknown => nested(depth + 1);

// Strings of any code points, member names that look like prototype members, and all finite numbers.
const jsonValues = fc
  .jsonValue({ maxDepth: 5, stringUnit: 'binary' })
  .map((value) => value as JsonValue)
  .filter((value) => !JSON.stringify(value).includes('__proto__'));
/** Integers of any size, including those whose digits a parser could lose. */
const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(Math.trunc),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(Number),
);

const withoutPrototype = (value: object): object => Object.setPrototypeOf(value, null) as object;
/** An object that has the members of a root prototype, but is not a root prototype. */
const rootLike = withoutPrototype(Object.assign(() => 0, { isPrototypeOf: 1 }));

describe('RFC 8785 canonical form', () => {
  it.each(vectorsOf<ValidVector>('canonical-json/valid'))('writes %s as published', (_name, vector) => {
    if ('numbers' in vector) {
      for (const { ieee754, canonical } of vector.numbers) expect(canonicalize(numberOfBits(ieee754))).toBe(canonical);
      return;
    }
    const value = parseStrictJson(vector.text, ampleLimits);
    expect(canonicalize(value)).toBe(vector.canonical);
    expect(canonicalize(parseStrictJson(vector.canonical, ampleLimits))).toBe(vector.canonical);
    expect(canonicalBytes(value)).toEqual(utf8Bytes(vector.canonical));
  });

  it('equals the output of an independent implementation', () => {
    fc.assert(
      fc.property(jsonValues, (value) => expect(canonicalize(value)).toBe(oracle(value))),
      { numRuns: 2000 },
    );
  });

  it('equals the output of an independent implementation for many members and long names', () => {
    const name = fc.string({ unit: 'binary', maxLength: 80 }).filter((text) => text !== '__proto__');
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 60, maxLength: 140 }), (names) => {
        const members = Object.fromEntries(names.map((text, place) => [text, place]));
        expect(canonicalize(members)).toBe(oracle(members));
      }),
    );
  });

  it('is unchanged when the strict parser reads it and it is written again', () => {
    const values = fc.oneof(jsonValues, numbers, fc.array(numbers), fc.nat(jsonDepthMax - 1).map(nestedOnce));
    fc.assert(
      fc.property(values, (value) => {
        const text = canonicalize(value as JsonValue);
        expect(canonicalize(parseStrictJson(text, ampleLimits))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('is the same from the functions for a single string and a single number', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), numbers, (text, number) => {
        expect(canonicalString(text)).toBe(canonicalize(text));
        expect(canonicalNumber(number)).toBe(canonicalize(number));
      }),
    );
    expect(refusal(() => canonicalString('\ud800'))).toEqual({ code: 'LONE_SURROGATE', path: '' });
    expect(refusal(() => canonicalString(7 as unknown as string))).toEqual({ code: 'NOT_PLAIN_JSON', path: '' });
    expect(refusal(() => canonicalNumber(NaN))).toEqual({ code: 'NUMBER_NOT_FINITE', path: '' });
  });

  it('does not depend on the order in which members were added', () => {
    const name = fc.string({ unit: 'binary' }).filter((text) => text !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(name, fc.integer()), (members) => {
        const reversed = Object.fromEntries(Object.entries(members).reverse());
        expect(canonicalize(reversed)).toBe(canonicalize(members));
      }),
    );
  });
});

describe('the plain-JSON gate', () => {
  class Money {
    amount = 1;
  }
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = [cyclic];
  const withSymbol = { a: 1, [Symbol('hidden')]: 2 };
  const annotated = Object.assign([1], { note: 'lost' });
  const sparse = new Array<number>(3);

  it.each<[string, unknown, string, string]>([
    ['undefined', undefined, 'NOT_PLAIN_JSON', ''],
    ['an undefined member', { a: { b: undefined } }, 'NOT_PLAIN_JSON', '/a/b'],
    ['an undefined element', [1, undefined], 'NOT_PLAIN_JSON', '/1'],
    ['an array with a hole', { list: sparse }, 'NOT_PLAIN_JSON', '/list'],
    ['a function', { f: () => 1 }, 'NOT_PLAIN_JSON', '/f'],
    ['a toJSON method', { toJSON: () => 'other' }, 'NOT_PLAIN_JSON', '/toJSON'],
    ['a symbol', [Symbol('s')], 'NOT_PLAIN_JSON', '/0'],
    ['a symbol member', withSymbol, 'NOT_PLAIN_JSON', ''],
    ['an array with members', annotated, 'NOT_PLAIN_JSON', ''],
    ['a bigint', { n: 1n }, 'NOT_PLAIN_JSON', '/n'],
    ['a Map', { m: new Map([['a', 1]]) }, 'NOT_PLAIN_JSON', '/m'],
    ['a Date', new Date(0), 'NOT_PLAIN_JSON', ''],
    ['bytes', { b: Uint8Array.of(1) }, 'NOT_PLAIN_JSON', '/b'],
    ['a boxed string', [Object('x')], 'NOT_PLAIN_JSON', '/0'],
    ['a class instance', { price: new Money() }, 'NOT_PLAIN_JSON', '/price'],
    ['an object that inherits members', Object.create({ a: 1 }), 'NOT_PLAIN_JSON', ''],
    ['an object that inherits a member named isPrototypeOf', Object.create({ isPrototypeOf: 1 }), 'NOT_PLAIN_JSON', ''],
    ['an object below an object without prototype', Object.create(Object.create(null) as object), 'NOT_PLAIN_JSON', ''],
    ['an array without prototype', Object.setPrototypeOf([1], null), 'NOT_PLAIN_JSON', ''],
    ['an array with the prototype of objects', Object.setPrototypeOf([1], Object.prototype), 'NOT_PLAIN_JSON', ''],
    [
      'an array whose prototype has no prototype',
      Object.setPrototypeOf([1], withoutPrototype([])),
      'NOT_PLAIN_JSON',
      '',
    ],
    ['an object whose prototype is a function', Object.setPrototypeOf({ a: 1 }, rootLike), 'NOT_PLAIN_JSON', ''],
    ['an array with a symbol', Object.assign([1], { [Symbol('hidden')]: 2 }), 'NOT_PLAIN_JSON', ''],
    ['an undefined member whose name needs escapes', { 'a~/b': undefined }, 'NOT_PLAIN_JSON', '/a~0~1b'],
    ['an array of a subclass', new (class extends Array {})(), 'NOT_PLAIN_JSON', ''],
    ['a cycle', cyclic, 'NOT_PLAIN_JSON', `${'/self/0'.repeat(32)}`],
    ['NaN', { 'a/b': [NaN] }, 'NUMBER_NOT_FINITE', '/a~1b/0'],
    ['an infinity', -Infinity, 'NUMBER_NOT_FINITE', ''],
    ['a lone surrogate', ['ok', 'x\ud83d'], 'LONE_SURROGATE', '/1'],
    ['a lone surrogate in a name', { '\udc00': 1 }, 'LONE_SURROGATE', '/\udc00'],
    ['a member named __proto__', { a: JSON.parse('{"__proto__":1}') as unknown }, 'FORBIDDEN_MEMBER', '/a/__proto__'],
    ['65 levels', nested(65), 'NESTING_TOO_DEEP', '/0'.repeat(64)],
  ])('refuses %s and reports its path', (_what, value, code, path) => {
    expect(refusal(() => parsePlainJson(value))).toEqual({ code, path });
    expect(refusal(() => canonicalize(value as JsonValue))).toEqual({ code, path });
  });

  it.each<[string, unknown]>([
    ['64 levels', nested(64)],
    ['an object without prototype', Object.assign(Object.create(null), { a: [] })],
    ['objects and arrays of another realm', runInNewContext('({ a: [{ b: 1 }] })')],
    ['the same object twice without a cycle', Array(2).fill({ a: [] })],
  ])('accepts %s and returns it unchanged', (_what, value) => {
    expect(parsePlainJson(value)).toBe(value);
  });

  it('parses objects only, if an object is expected', () => {
    const members = { a: [1] };
    expect(parsePlainObject(members)).toBe(members);
    for (const value of [[], null, 'a', 1])
      expect(refusal(() => parsePlainObject(value))).toEqual({ code: 'NOT_PLAIN_JSON', path: '' });
  });

  it('copies an object without its undefined members', () => {
    const value = { a: undefined, b: { c: undefined, d: [1] }, toJSON: undefined };
    expect(definedMembers(value)).toEqual({ b: { d: [1] } });
    expect(Object.keys(definedMembers(value))).toEqual(['b']);
    expect(refusal(() => definedMembers({ a: '\ud800' })).code).toBe('LONE_SURROGATE');
  });

  it('puts the path of a fault into the message, unless the fault is the whole value', () => {
    expect(() => parsePlainJson({ a: [undefined] })).toThrow(/ at \/a\/0$/);
    expect(() => parsePlainJson(undefined)).toThrow(/JSON$/);
    expect(() => parsePlainJson(cyclic)).toThrow('value that contains itself at /self/0');
    expect(() => parsePlainJson(nested(65))).toThrow('nesting deeper than 64 at /0/0');
    expect(() => parseStrictJson('{', ampleLimits)).toThrow(/^(?!.* at undefined)/);
    expect(() => parsePlainJson(undefined)).toThrow(expect.objectContaining({ name: 'CryptoError' }));
  });

  it('accepts a lower depth limit', () => {
    expect(refusal(() => parsePlainJson([[[]]], { depthMax: 2 }))).toEqual({ code: 'NESTING_TOO_DEEP', path: '/0/0' });
    expect(parsePlainJson([[1]], { depthMax: 2 })).toEqual([[1]]);
  });

  it.each(
    vectorsOf<{ ieee754?: string; code: string }>('canonical-json/invalid').filter(
      ([, vector]) => vector.ieee754 !== undefined,
    ),
  )('refuses the number %s', (_name, { ieee754 = '', code }) => {
    expect(refusal(() => canonicalize(numberOfBits(ieee754))).code).toBe(code);
  });
});
