import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Instant } from '@countersign/contracts';
import { PackReceipt } from '@countersign/contracts/governance-kernel';
import { canonicalize, parseStrictJson, utf8Bytes, utf8Text, type JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { payloadText, receiptText, recordHash } from '@countersign/receipts';
import { arbitraryOf } from '../../receipts/tests/schema-arbitrary.ts';
import { parseKeySet, verifyExport } from '../src/index.ts';
import { PackLineReader } from '../src/pack-line-reader.ts';
import { lineLimits } from '../src/read-lines.ts';
import { activation, decision, packKeys, packOf, policyLine } from './pack-fixture.ts';

const instants = fc
  .date({ min: new Date(0), noInvalidDate: true, max: new Date('9999-01-01') })
  .map((date) => date.toISOString() as Instant); // the form of an instant
const values = fc
  .tuple(arbitraryOf(PackReceipt) as fc.Arbitrary<PackReceipt>, instants) // values of the schema
  .map(([{ proof, receipt, record }, time]): PackReceipt => {
    const signed = { ...receipt, payload: { ...receipt.payload, issued_at: time } };
    return { proof, receipt: signed, ...(record !== undefined && { record: { ...record, created_at: time } }) };
  });
const drawn = (count: number) => fc.sample(values, count).map((value) => canonicalize(withSmallNumbers(value)));

/** Most limits of the schema are below the numbers that an arbitrary makes. */
function withSmallNumbers(value: PackReceipt): JsonValue {
  const smaller = (_name: string, item: unknown) => (typeof item === 'number' ? item % 1_000_000_007 : item);
  return JSON.parse(JSON.stringify(value), smaller) as JsonValue; // values of a schema are plain
}
const whole = await packOf([activation(1), policyLine(), decision(2, '00:00:10'), decision(3, '00:00:20')]);
const receiptLines = whole.filter((line) => line.startsWith('{"proof":'));

/** The value of the line by the general parser. `null` when it is refused. */
function slowValue(text: string): PackReceipt | null {
  try {
    const value = parseStrictJson(utf8Bytes(text), lineLimits);
    return canonicalize(value) === text && PackReceipt.safeParse(value).success ? (value as PackReceipt) : null; // the schema has checked it
  } catch {
    return null;
  }
}

/** Lines of values that the schema accepts, and of values with a wrong member. Only a few in a hundred are accepted. */
const samples: string[] = [];
const acceptedMin = 11;
for (let accepted = 0; samples.length < 1_000 || accepted < acceptedMin;) {
  const lines = drawn(250);
  samples.push(...lines);
  accepted += lines.filter((text) => slowValue(text) !== null).length;
}

/** Compares the readers. Returns whether the fast one read the line. */
function compare(reader: PackLineReader, text: string): boolean {
  const read = reader.read(utf8Bytes(text));
  if (read === null) return false;
  const slow = slowValue(text);
  expect(read.value).toEqual(slow);
  expect(canonicalize(read.value as JsonValue)).toBe(text); // plain, as the line above shows
  const { receipt, record } = read.value;
  const payload = payloadText(receipt.payload);
  expect(read.texts.payload).toBe(payload);
  expect(read.texts.receipt).toBe(receiptText({ payload, signature: receipt.signature }));
  const hash = read.texts.record === null ? null : `sha256:${nodeProvider.sha256Hex(read.texts.record)}`;
  expect(hash).toBe(record === undefined ? null : recordHash(nodeProvider, record));
  return true;
}

/** Texts that a reader could mistake for others, in any place. */
const pieces = [
  ...[
    ' ',
    '\n',
    '\t',
    ',',
    ':',
    '"',
    '\\',
    '\\"',
    '{',
    '}',
    '[',
    ']',
    '{}',
    '[]',
    '-',
    '+',
    '.',
    '0',
    '-0',
    '1e3',
    '00',
  ],
  ...[
    'null',
    'true',
    'false',
    '\\u0041',
    '\\ud800',
    '\\n',
    '\u0001',
    '\u007f',
    '\u2028',
    'é',
    '😀',
    '\ud800',
    '\ufeff',
  ],
  ...['1.0', '1.5', '9007199254740993', '999999999999999', '1000000000000000', '1e21', '"a":1,', '"__proto__":1,'],
  ...['"record_hash":"x",', '"shadow":[],', ',"type":"x"', 'sha256:', '2026-02-30', '24:00:00', '"record":null,'],
];
const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 3 }));
type Edit = { at: number; cut: number; piece: string; from: number };
const edits: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(),
  cut: fc.oneof({ weight: 4, arbitrary: fc.nat(3) }, fc.nat(80)),
  piece,
  from: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat()),
});

/** Replaces a piece of the text by another piece, or by a piece of the same text. */
function edited(text: string, { at: place, cut, piece: added, from }: Edit): string {
  const start = place % (text.length + 1);
  const copy = from % (text.length + 1);
  const inserted = from === 0 ? added : text.slice(copy, copy + cut);
  return utf8Text(utf8Bytes(text.slice(0, start) + inserted + text.slice(start + cut)));
}

describe('the reader of lines with receipts', () => {
  it('reads the lines of a pack', () => {
    const reader = new PackLineReader();
    expect(receiptLines).toHaveLength(3);
    expect(receiptLines.map((line) => compare(reader, line))).toEqual([true, true, true]);
    expect(receiptLines.map((line) => reader.read(line)?.value)).toEqual(receiptLines.map(slowValue));
  });

  it('reads canonical lines of the schema', () => {
    const reader = new PackLineReader();
    const valid = samples.filter((text) => slowValue(text) !== null);
    const read = samples.filter((text) => compare(reader, text));
    expect(valid.length).toBeGreaterThanOrEqual(acceptedMin);
    expect(read).toEqual(valid);
  });

  it.each([
    ['"amount":1.5', '"amount":1.50'],
    ['"amount":1.5', '"amount":01.5'],
    ['"amount":1.5', '"amount":15e-1'],
    ['"amount":1.5', '"amount":-0'],
    ['"amount":1.5', '"amount":+1.5'],
    ['"amount":1.5', '"amount":1e999'],
    ['"amount":1.5', '"__proto__":1,"amount":1.5'],
    ['[1,2]', '[01,2]'],
    ['[1,2]', '[1, 2]'],
    ['[1,2]', '[1,2,]'],
    ['"text":"é\\n"', '"text":"\\u00e9\\n"'],
    ['"text":"é\\n"', '"text":"é\\u000a"'],
    ['"log_index":0', '"log_index":00'],
    ['"log_index":0', '"log_index":-0'],
    ['"log_index":0', '"log_index":0.0'],
    ['"log_index":0', '"log_index":9007199254740993'],
    ['"hashes":[', `"hashes":[${`"${'A'.repeat(43)}=",`.repeat(63)}`],
  ])('reads a line with %s, and not with %s', (from, to) => {
    const facts = { amount: 1.5, list: [1, 2], text: 'é\n' };
    const { proof, receipt, record } = JSON.parse(receiptLines[0] ?? '') as Required<PackReceipt>; // a line of the fixture
    const line = canonicalize({ proof, receipt, record: { ...record, intent: { ...record.intent, facts } } });
    expect(line.split(from)).toHaveLength(2);
    expect(compare(new PackLineReader(), line)).toBe(true);
    expect([compare(new PackLineReader(), line.replace(from, to)), slowValue(line.replace(from, to))]).toEqual([
      false,
      null,
    ]);
  });

  it('reads no line that the general parser refuses, and reads the same value', () => {
    const reader = new PackLineReader();
    let read = 0;
    const lines = fc.oneof(
      fc.constantFrom(...receiptLines),
      fc.constantFrom(...samples.filter((text) => slowValue(text) !== null)),
    );
    fc.assert(
      fc.property(lines, fc.array(edits, { minLength: 1, maxLength: 2 }), (line, list) => {
        if (compare(reader, list.reduce(edited, line))) read += 1;
      }),
      { numRuns: 10_000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it('returns frozen values where several lines share them', () => {
    const reader = new PackLineReader();
    const [first, second] = receiptLines.slice(1).map((line) => reader.read(line)?.value.record);
    expect(first?.gates).toBe(second?.gates);
    expect(Object.isFrozen(first?.gates) && Object.isFrozen(first?.gates[0])).toBe(true);
  });

  it('leaves a string with a lone surrogate, and a line with invalid UTF-8, to the general parser', () => {
    const reader = new PackLineReader();
    const [line = ''] = receiptLines;
    const changed = line.replace('"agent-1"', '"agent-\ud800"');
    expect([reader.read(line) !== null, changed === line, reader.read(changed)]).toEqual([true, false, null]);
    expect(reader.read(Uint8Array.of(0x7b, 0xff))).toBeNull();
  });
});

/** The general parser reads all lines. */
function withoutReader<Result>(work: () => Result): Result {
  const read = Object.getOwnPropertyDescriptor(PackLineReader.prototype, 'read') ?? {};
  Object.defineProperty(PackLineReader.prototype, 'read', { ...read, value: () => null });
  try {
    return work();
  } finally {
    Object.defineProperty(PackLineReader.prototype, 'read', read);
  }
}

describe('the report on a pack', () => {
  it('does not depend on the reader of its lines', () => {
    const options = { trust: parseKeySet(packKeys()), provider: nodeProvider };
    const codes = new Set<string | undefined>();
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.array(edits, { maxLength: 1 }), (nth, list) => {
        const lines = whole.with(nth, list.reduce(edited, whole[nth] ?? '')).map(utf8Bytes);
        const fast = verifyExport(lines, options);
        expect(withoutReader(() => verifyExport(lines, options))).toEqual(fast);
        codes.add(fast.fault?.code);
      }),
      { numRuns: 300 },
    );
    expect(codes.size).toBeGreaterThan(3);
  });
});
