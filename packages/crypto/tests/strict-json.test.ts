import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalize, decodeHex, parseStrictJson, utf8Bytes } from '../src/index.ts';
import type { JsonValue } from '../src/index.ts';
import { refusal, vectorsOf } from './vector-files.ts';

interface InvalidVector {
  text?: string;
  text_hex?: string;
  limits?: { depth_max: number; bytes_max: number };
  code: string;
  path?: string;
}

const ampleLimits = { depthMax: 64, bytesMax: 100_000 };
const texts = vectorsOf<InvalidVector>('canonical-json/invalid').filter(
  ([, { text, text_hex }]) => (text ?? text_hex) !== undefined,
);

describe('the parser of strict JSON', () => {
  it.each(texts)('refuses %s', (_name, { text, text_hex = '', limits, code, path }) => {
    const bounds = limits === undefined ? ampleLimits : { depthMax: limits.depth_max, bytesMax: limits.bytes_max };
    const refused = refusal(() => parseStrictJson(text ?? decodeHex(text_hex), bounds));
    expect(refused.code).toBe(code);
    if (path !== undefined) expect(refused.path).toBe(path);
  });

  it('reads the same value as JSON.parse if nothing is lost', () => {
    const spaced = fc.tuple(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.nat(3));
    fc.assert(
      fc.property(spaced, ([value, indent]) => {
        const text = JSON.stringify(value, null, indent);
        fc.pre(!text.includes('__proto__'));
        expect(parseStrictJson(text, ampleLimits)).toEqual(JSON.parse(text));
        expect(parseStrictJson(utf8Bytes(text), ampleLimits)).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses a repeated member at any place and in any spelling', () => {
    const escapeAll = (name: string) =>
      Array.from({ length: name.length }, (_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
        '',
      );
    const name = fc.string({ unit: 'binary' }).filter((text) => text !== '__proto__');
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(names, fc.nat(), fc.boolean(), ([...all], pick, isEscaped) => {
        const repeated = all[pick % all.length] ?? '';
        const spelling = isEscaped ? `"${escapeAll(repeated)}"` : JSON.stringify(repeated);
        const members = [...all.map((name) => JSON.stringify(name)), spelling].map((name) => `${name}:{"x":[1]}`);
        expect(refusal(() => parseStrictJson(`[{"in":{${members.join(',')}}}]`, ampleLimits)).code).toBe(
          'DUPLICATE_MEMBER',
        );
      }),
    );
  });

  it('returns a value or throws a CryptoError for any bytes', () => {
    const fragments = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '\\u', 'd800', '0', '-', '1e9', 'null', ' '),
    );
    fc.assert(
      fc.property(fragments, (pieces) => {
        const text = pieces.join('');
        const isJson = (() => {
          try {
            return JSON.parse(text) !== undefined;
          } catch {
            return false;
          }
        })();
        if (!isJson) expect(refusal(() => parseStrictJson(text, ampleLimits)).code).toBe('MALFORMED_JSON');
        else expect(() => outcome(text)).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });

  it('detects rounding in millions of digits without quadratic time', () => {
    const digits = `[9007199254740993.${'0'.repeat(4_000_000)}1]`;
    expect(refusal(() => parseStrictJson(digits, { ...ampleLimits, bytesMax: 5_000_000 })).code).toBe(
      'NUMBER_OUT_OF_RANGE',
    );
  });

  const integers = [
    ...['9007199254740991', '9007199254740992', '9007199254740992.0', '9007199254740992.000', '-9007199254740992'],
    ...['1e20', '1E+20', '100000000000000000000', '1.0e20', '10.00e19', '0.1e21', '0.0010e23', '123.456e30', '-1e300'],
    ...['1000e-3', '0e5', '-0', '0.000', '1.5', '12345678901234.5', '0.1', '0.30000000000000004'],
    ...[
      '0.10000000000000001',
      '0.1000000000000000',
      '0.10000000000000000555',
      '5e-324',
      '4.9e-324',
      '333333333.33333329',
      '-1.50e-7',
    ],
  ];
  it.each(integers)('reads %s without loss', (text) => {
    expect(parseStrictJson(`[${text}]`, ampleLimits)).toEqual([Number(text)]);
  });

  it.each([
    ...['9007199254740993', '9007199254740993.0', '9007199254740993.00', '-9007199254740993', '9007199254740992.5'],
    ...['9007199254740993e0', '900719925474099.3e1', '100000000000000000001', '1.00000000000000000001e20', '1e400'],
    ...['-1e400', '123.4560000000000000000000001e30', '1000000000000000000000000000001'],
    ...['0.1234567890123456789', '1e-400', '1.00000000000000000001', '1234567890123456.78', '0.10000000000000000556'],
  ])('refuses %s, which would be read as another number', (text) => {
    const refused = refusal(() => parseStrictJson(`[0,${text}]`, ampleLimits));
    expect(refused).toEqual({ code: 'NUMBER_OUT_OF_RANGE', path: '/1' });
  });

  it('counts bytes, not characters, and accepts a text at the limit', () => {
    expect(parseStrictJson('"€€"', { depthMax: 1, bytesMax: 8 })).toBe('€€');
    expect(refusal(() => parseStrictJson('"€€"', { depthMax: 1, bytesMax: 7 })).code).toBe('TOO_LARGE');
    for (const text of ['[1,2,3]', '{"a":{"b":[]}}', '[{},0]']) {
      const limits = { depthMax: 8, bytesMax: 100 };
      parseStrictJson(text, { ...limits, valuesMax: 3 });
      expect(refusal(() => parseStrictJson(text, { ...limits, valuesMax: 2 })).code).toBe('TOO_MANY_VALUES');
    }
  });

  it('counts values but not characters in strings, also in strings without an end', () => {
    const limits = { depthMax: 8, bytesMax: 100, valuesMax: 1 };
    for (const text of ['"[{,,]"', String.raw`["\\\",[{"]`, String.raw`{"\",[":0}`])
      expect(parseStrictJson(text, limits)).toEqual(JSON.parse(text));
    for (const text of ['"[,', String.raw`["\\\"`])
      expect(refusal(() => parseStrictJson(text, limits)).code).toBe('MALFORMED_JSON');
    expect(refusal(() => parseStrictJson(String.raw`["\\",0]`, limits)).code).toBe('TOO_MANY_VALUES');
  });

  it('finds the end of any string with quotes and backslashes', () => {
    const limits = { depthMax: 8, bytesMax: 1_000_000, valuesMax: 20 };
    const piece = fc.tuple(
      fc.constantFrom('"', '\\', '\\"', 'abc "', 'x', '\n', 'some words without any quote '),
      fc.nat(3_000),
    );
    const text = fc
      .array(piece, { maxLength: 6 })
      .map((pieces) => pieces.map(([unit, times]) => unit.repeat(times)).join(''));
    fc.assert(
      fc.property(text, text, (first, second) => {
        const value = { a: [first, second, first], b: second };
        expect(parseStrictJson(JSON.stringify(value), limits)).toEqual(value);
      }),
      { numRuns: 200 },
    );
  });

  it('reads at most one mebibyte of names with escapes when values are limited', () => {
    const named = (length: number) => JSON.stringify({ ['"'.repeat(length / 2)]: { ['\n'.repeat(length / 2)]: 0 } });
    const limits = { depthMax: 8, bytesMax: 10_000_000 };
    for (const length of [524_288, 524_290]) parseStrictJson(named(length), limits);
    parseStrictJson(named(524_288), { ...limits, valuesMax: 20 });
    expect(refusal(() => parseStrictJson(named(524_290), { ...limits, valuesMax: 20 })).code).toBe('TOO_LARGE');
  });

  it('does not count names without escapes, nor string values with escapes, towards that limit', () => {
    const limits = { depthMax: 8, bytesMax: 10_000_000, valuesMax: 20 };
    const plain = { ['a'.repeat(1_100_000)]: 0 };
    expect(parseStrictJson(JSON.stringify(plain), limits)).toEqual(plain);
    const escaped = `{"a":"${String.raw`\ud83d\ude00`.repeat(100_000)}"}`;
    expect(parseStrictJson(escaped, limits)).toEqual({ a: '😀'.repeat(100_000) });
  });

  it('refuses too many values before it builds them', () => {
    const objects = utf8Bytes(`[${'{},'.repeat(3_000_000)}0]`);
    const limits = { depthMax: 8, bytesMax: 10_000_000, valuesMax: 10_000 };
    const cpuOf = (run: () => unknown) => {
      const before = process.cpuUsage();
      run();
      return process.cpuUsage(before).user;
    };
    const refused = cpuOf(() => expect(refusal(() => parseStrictJson(objects, limits)).code).toBe('TOO_MANY_VALUES'));
    const text = new TextDecoder().decode(objects);
    expect(refused).toBeLessThan(cpuOf(() => JSON.parse(text)) / 2);
  });
});

/** The canonical text, or the code of a refusal. All other errors propagate. */
function outcome(text: string): string {
  let value: JsonValue;
  try {
    value = parseStrictJson(text, ampleLimits);
  } catch {
    return refusal(() => parseStrictJson(text, ampleLimits)).code;
  }
  return canonicalize(value);
}
