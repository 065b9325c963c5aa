import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { payloadOf, receiptOf } from '@countersign/receipts';
import { arbitraryOf } from '../../receipts/tests/schema-arbitrary.ts';
import { differingMember } from '../src/differing-member.ts';
import { isReceiptOf } from '../src/is-receipt-of.ts';

const others = fc.sample(arbitraryOf(ReceiptPayload), 300) as ReceiptPayload[]; // values of the schema
/** Few records of the schema have a payload, so the others are left out before the comparison. */
const records = fc
  .sample(arbitraryOf(BoundaryRecord) as fc.Arbitrary<BoundaryRecord>, 500) // values of the schema
  .filter((record) => others.some((source) => madeOf(record, source) !== null));
/** The member `type` has one value. */
const names = Object.keys(ReceiptPayload.shape).filter((name) => name !== 'type') as (keyof ReceiptPayload)[]; // the names of the schema

function madeOf(record: BoundaryRecord, { shadow, lamport_clock, prev_hash }: ReceiptPayload): ReceiptPayload | null {
  try {
    const place = { lamportClock: lamport_clock, prevHash: prev_hash };
    return payloadOf(receiptOf(record, { shadow }), record.record_hash, place);
  } catch {
    return null; // a name that is no name of a receipt
  }
}

describe('the payload of a record', () => {
  it('is accepted exactly when it equals the payload that a kernel derives', () => {
    const seen = { equal: 0, different: 0 };
    fc.assert(
      fc.property(
        fc.constantFrom(...records),
        fc.constantFrom(...others),
        fc.array(fc.constantFrom(...names), { maxLength: 2 }),
        fc.boolean(),
        (record, source, changedNames, isAbsent) => {
          const made = madeOf(record, source);
          if (made === null) return;
          const changed: Record<string, unknown> = { ...made };
          for (const member of changedNames) {
            if (isAbsent) delete changed[member];
            else changed[member] = source[member];
          }
          const payload = changed as ReceiptPayload; // with the members of a payload
          const isEqual = differingMember(madeOf(record, payload) ?? made, payload) === null;
          expect([changedNames, isReceiptOf(record, payload)]).toEqual([changedNames, isEqual]);
          seen[isEqual ? 'equal' : 'different'] += 1;
        },
      ),
      { numRuns: 4_000 },
    );
    expect(Math.min(seen.equal, seen.different)).toBeGreaterThan(100);
  });
});
