import { jwkOf, strangeSigner, testKeys } from './chain-fixture.ts';
import { linesOf, chains, periodOf, vectorOf } from './period-vectors.ts';
import { invalid, under, valid, withHead } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const instant = (time: string) => `2026-02-01T${time}Z`;

/** Issue time of head statements. Period statements are issued a second later. */
const issued = '00:20:00.000';

/**
 * Cases of the time until which a statement claims completeness. Its key must be valid at that time, and it must not
 * have been issued earlier.
 */
export async function asOfVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await validStatements()), ...(await brokenHeads()), ...(await brokenPeriods()) };
}

async function validStatements(): Promise<Record<string, ReceiptVector>> {
  return {
    'valid/head-by-a-clock-set-back': valid(
      'A head statement about a minute after it was issued: in between, a clock was set back.',
      await withHead({ as_of: instant('00:21:00.000') }),
    ),
    'valid/head-before-its-key-ended': valid(
      'A head statement about the last millisecond in which its key counted.',
      await withHead({}),
      testKeys({ valid_until: instant('00:20:00.001') }),
    ),
    'valid/head-from-the-beginning-of-its-key': valid(
      'A head statement by a key that began at the instant of which it speaks.',
      await withHead({}, { signer: strangeSigner }),
      nextKey(instant(issued)),
    ),
    'valid/head-before-its-key-was-revoked': valid(
      'A head statement about the last millisecond before its key was revoked, which a checkpoint had seen by then.',
      await withHead({}, { time: instant(issued) }),
      testKeys({ revoked_at: instant('00:20:00.001') }),
    ),
    'valid/period-before-its-key-ended': {
      ...vectorOf('A period statement by a key that ended right after.', linesOf(await periodOf(chains())), {
        verdict: 'VERIFIED',
      }),
      keys: testKeys({ valid_until: instant('00:20:01.001') }),
    },
  };
}

async function brokenHeads(): Promise<Record<string, ReceiptVector>> {
  const about = (time: string) => withHead({ as_of: instant(time) });
  return {
    'invalid/head-as-of-after-it-was-issued': invalid(
      'A head statement about more than a minute after it was issued.',
      'TIME_MISMATCH',
      await about('00:21:00.001'),
      -1,
    ),
    'invalid/head-as-of-the-end-of-its-key': under(
      testKeys({ valid_until: instant('00:20:30.000') }),
      invalid('A head statement about the instant its key ends.', 'KEY_EXPIRED', await about('00:20:30.000'), -1),
    ),
    'invalid/head-as-of-today-by-a-key-that-ended': under(
      testKeys({ valid_until: instant('00:30:00.000') }),
      invalid(
        'A head statement about the time of its checkpoint, dated back to when its key counted.',
        'KEY_EXPIRED',
        await about('01:00:00.000'),
        -1,
      ),
    ),
    'invalid/head-as-of-before-its-key': under(
      nextKey(instant(issued)),
      invalid(
        'A head statement about a time before its key became valid.',
        'KEY_NOT_VALID_YET',
        await withHead({ as_of: instant('00:19:59.999') }, { signer: strangeSigner }),
        -1,
      ),
    ),
    'invalid/head-as-of-the-revocation-of-its-key': under(
      testKeys({ revoked_at: instant('00:20:30.000') }),
      invalid(
        'A head statement about the instant of the revocation, which a checkpoint had seen before.',
        'KEY_REVOKED',
        await withHead({ as_of: instant('00:20:30.000') }, { time: instant('00:20:10.000') }),
        -1,
      ),
    ),
  };
}

async function brokenPeriods(): Promise<Record<string, ReceiptVector>> {
  const reportOf = async (as_of: string) => linesOf(await periodOf(chains(), { statement: { as_of: instant(as_of) } }));
  const broken = (about: string, code: string, lines: unknown[]) =>
    vectorOf(about, lines, { verdict: 'NOT_VERIFIED', code, line: lines.length });
  return {
    'invalid/period-as-of-after-it-was-issued': broken(
      'A period statement about more than a minute after it was issued.',
      'TIME_MISMATCH',
      await reportOf('00:21:01.001'),
    ),
    'invalid/period-as-of-the-end-of-its-key': under(
      testKeys({ valid_until: instant('00:20:30.000') }),
      broken('A period statement about the instant its key ends.', 'KEY_EXPIRED', await reportOf('00:20:30.000')),
    ),
    'invalid/period-of-today-by-a-key-that-ended': under(
      testKeys({ valid_until: instant('00:30:00.000') }),
      broken(
        'The statement of a period after the end of its key, dated back to when that counted: nothing was issued, it says.',
        'KEY_EXPIRED',
        linesOf(
          await periodOf(chains(), {
            ...{ from: instant('00:40:00.000'), to: instant('00:50:00.000') },
            statement: { as_of: instant('01:00:00.000') },
          }),
        ),
      ),
    ),
  };
}

/** The key of the receipts, and its successor, which begins at this time. */
function nextKey(valid_from: string): ReceiptVector['keys'] {
  return { keys: [...testKeys().keys, { ...jwkOf(strangeSigner, 'receipts'), valid_from }] };
}
