import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { argumentsDepthMax } from '@countersign/contracts';
import { BoundaryRecord, ReceiptPayload, Signature } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, canonicalize, digestOf, parseStrictJson, type JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { payloadText, receiptHash, recordHash, sealRecord } from '../src/index.ts';
import { arbitraryOf } from './schema-arbitrary.ts';

const Record = BoundaryRecord.omit({ record_hash: true });
const records = arbitraryOf(Record) as fc.Arbitrary<z.infer<typeof Record>>;
const payloads = arbitraryOf(ReceiptPayload) as fc.Arbitrary<ReceiptPayload>;
const [someRecord, somePayload] = [first(records), first(payloads)];

describe('the text of a record', () => {
  it('is canonical JSON with record_hash, the hash of the canonical JSON without it', () => {
    fc.assert(
      fc.property(records, (record) => {
        const hash = digestOf(nodeProvider, canonicalBytes(record));
        expect(sealRecord(nodeProvider, record)).toEqual({
          text: canonicalize({ ...record, record_hash: hash }),
          hash,
        });
        expect(recordHash(nodeProvider, record)).toBe(hash);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, z.ZodObject]>([
    ['the record', Record.extend({ novel: z.string() })],
    ['its intent', Record.extend({ intent: Record.shape.intent.extend({ novel: z.string() }) })],
    [
      'an entry of its trace',
      Record.extend({ gates: z.array(Record.shape.gates.element.extend({ novel: z.string() })).length(1) }),
    ],
    ['its demand', Record.extend({ demand: Record.shape.demand.unwrap().extend({ novel: z.string() }) })],
    [
      'a budget',
      Record.extend({ budgets: z.array(Record.shape.budgets.element.extend({ novel: z.string() })).length(1) }),
    ],
    [
      'a fence',
      Record.extend({ fences: z.array(Record.shape.fences.unwrap().element.extend({ novel: z.string() })).length(1) }),
    ],
    ['its identity', Record.extend({ identity: Record.shape.identity.unwrap().extend({ novel: z.string() }) })],
    [
      'a shadow verdict',
      Record.extend({ shadow: z.array(Record.shape.shadow.element.extend({ novel: z.string() })).length(1) }),
    ],
  ])('lacks a new member in the schema of %s, so the test above would fail', (_what, schema) => {
    const record = fc.sample(arbitraryOf(schema), 50).find((value) => JSON.stringify(value).includes('"novel"'));
    const { text } = sealRecord(nodeProvider, record as z.infer<typeof Record>);
    expect(text).not.toContain('"novel"');
    expect(canonicalize(record as JsonValue)).toContain('"novel"');
  });

  it('is refused when it does not fit into one line of an export', () => {
    const record = { ...someRecord, intent: { ...someRecord.intent, facts: { text: 'x'.repeat(2_600_000) } } };
    expect(() => sealRecord(nodeProvider, record)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }));
  });

  it('allows facts as deep as arguments can be, which readers of exports accept, and no deeper ones', () => {
    const withFacts = (depth: number) => ({
      ...someRecord,
      intent: { ...someRecord.intent, facts: { deep: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as JsonValue } },
    });
    const deepest = withFacts(argumentsDepthMax);
    const { hash, text } = sealRecord(nodeProvider, deepest);
    expect(hash).toBe(digestOf(nodeProvider, canonicalBytes(deepest)));
    expect(parseStrictJson(`{"record":${text}}`, { depthMax: 64, bytesMax: 100_000 })).toBeDefined();
    expect(() => sealRecord(nodeProvider, withFacts(argumentsDepthMax + 1))).toThrow(
      expect.objectContaining({ code: 'NESTING_TOO_DEEP' }),
    );
  });

  it.each([
    ['session_id', { session_id: 'x\ud83d' }],
    ['a rule', { matched_rules: ['\udc00'] }],
    ['a fact', { intent: { ...someRecord.intent, facts: { a: '\ud83d' } } }],
    ['the name of a fact', { intent: { ...someRecord.intent, facts: { '\ud83d': 1 } } }],
    ['a detail', { gates: [{ gate: 'rules', outcome: 'deny', detail: '\ud83d' }] }],
  ])('is refused for a lone surrogate in %s', (_what, change) => {
    const record = { ...someRecord, ...change } as typeof someRecord;
    expect(() => sealRecord(nodeProvider, record)).toThrow(expect.objectContaining({ code: 'LONE_SURROGATE' }));
  });

  it('is refused when a member is missing or a number is NaN', () => {
    const optional = ['demand', 'dispatched_by', 'fences', 'identity', 'judged_hash', 'tool_blocked'];
    for (const name of Object.keys(Record.shape).filter((member) => !optional.includes(member))) {
      const record = { ...someRecord, [name]: undefined } as typeof someRecord;
      expect(() => [name, sealRecord(nodeProvider, record)]).toThrow();
    }
    expect(() => sealRecord(nodeProvider, { ...someRecord, policy_epoch: NaN })).toThrow(
      expect.objectContaining({ code: 'NUMBER_NOT_FINITE' }),
    );
  });
});

describe('the text of a payload', () => {
  it('is canonical JSON, and receipt_hash covers it and the signature after its own prefix', () => {
    fc.assert(
      fc.property(payloads, arbitraryOf(Signature) as fc.Arbitrary<Signature>, (payload, signature) => {
        expect(payloadText(payload)).toBe(canonicalize(payload));
        const hash = digestOf(nodeProvider, `countersign.receipt-hash.v1\n${canonicalize({ payload, signature })}`);
        expect(receiptHash(nodeProvider, { payload, signature })).toBe(hash);
        expect(receiptHash(nodeProvider, { payload: payloadText(payload), signature })).toBe(hash);
      }),
      { numRuns: 500 },
    );
  });

  it('omits a member that is new in the schema, so the test above would detect it', () => {
    const payload = first(arbitraryOf(ReceiptPayload.extend({ novel: z.string() })));
    expect(payloadText(payload as ReceiptPayload)).not.toContain('"novel"');
    expect(canonicalize(payload as JsonValue)).toContain('"novel"');
  });

  it('is refused for a lone surrogate, a missing member and NaN', () => {
    for (const name of ['principal_id', 'session_id', 'tool', 'resource']) {
      const payload = { ...somePayload, [name]: '\ud83d' };
      expect(() => payloadText(payload)).toThrow(expect.objectContaining({ code: 'LONE_SURROGATE' }));
    }
    const optional = ['approval_id', 'decision_receipt_id', 'outcome', 'output_hash', 'spend_micros'];
    for (const name of Object.keys(ReceiptPayload.shape).filter((member) => !optional.includes(member))) {
      expect(() => [name, payloadText({ ...somePayload, [name]: undefined })]).toThrow();
    }
    expect(() => payloadText({ ...somePayload, lamport_clock: Infinity })).toThrow(
      expect.objectContaining({ code: 'NUMBER_NOT_FINITE' }),
    );
  });
});

function first<Value>(arbitrary: fc.Arbitrary<Value>): Value {
  const [value] = fc.sample(arbitrary, { numRuns: 1, seed: 1 });
  if (value === undefined) throw new Error('The sample is empty');
  return value;
}
