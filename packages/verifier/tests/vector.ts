import { testKeys, type Members } from './chain-fixture.ts';

/** One file of contracts/vectors/receipts: an export, the keys to trust, and what a verifier must answer. */
export type ReceiptVector = {
  about: string;
  keys: { keys: Members[] };
  export: Members;
  expect: { verdict: 'VERIFIED' } | { verdict: 'NOT_VERIFIED'; code: string; index?: number };
};

export function valid(about: string, exported: Members, keys = testKeys()): ReceiptVector {
  return { about, keys, export: exported, expect: { verdict: 'VERIFIED' } };
}

export function invalid(about: string, code: string, exported: object, index?: number): ReceiptVector {
  const expected = { verdict: 'NOT_VERIFIED' as const, code, ...(index === undefined ? {} : { index }) };
  return { about, keys: testKeys(), export: exported as Members, expect: expected }; // plain JSON
}
