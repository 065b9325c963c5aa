import { describe, expect, it } from '@jest/globals';
import { reportOf } from '../src/export-report.ts';
import type { VerificationErrorCode } from '../src/index.ts';

const evidence = {
  ...{ records: 0, proofs: 0, heads: 0, keys: new Set<string>(), times: null },
  ...{ brokenGlass: { count: 0, first: null }, bare: { count: 0, first: null }, unproven: { count: 0, first: null } },
};
const links = { receipts: 1, summaries: () => [] } as never; // all that a report of a fault looks at

const answersTo = (code: VerificationErrorCode) => {
  const fault = { code, message: 'for a test', line: 2, receipt_id: null };
  const { verdict, integrity, completeness, signer, time } = reportOf({
    links,
    period: null,
    evidence,
    fault,
    options: {},
  });
  return [verdict, integrity, completeness, signer, time];
};

describe('a report on the first fault says what is known, and of what is behind the fault nothing', () => {
  it.each<[VerificationErrorCode, ...string[]]>([
    ['KEY_UNKNOWN', 'UNDECIDABLE', 'UNDECIDED', 'UNDECIDED', 'UNKNOWN', 'UNDECIDED'],
    ['TOO_LARGE', 'UNDECIDABLE', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED'],
    ['SIGNATURE_INVALID', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['KEY_REVOKED', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['KEY_EXPIRED', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['KEY_NOT_VALID_YET', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['TIME_MISMATCH', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'UNDECIDED', 'CONTRADICTED'],
    ['EMPTY', 'NOT_VERIFIED', 'BROKEN', 'INCOMPLETE', 'UNDECIDED', 'UNDECIDED'],
    ['LINK_MISMATCH', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED'],
  ])('%s', (code, ...answers) => {
    expect(answersTo(code)).toEqual(answers);
  });
});
