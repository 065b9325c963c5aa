import {
  chainOf,
  consistencyOf,
  headOf,
  jwkOf,
  leafOf,
  noteOver,
  proofOf,
  sign,
  strangeSigner,
  testKeys,
} from './chain-fixture.ts';
import type { Exported, Line, logSigner } from './chain-fixture.ts';
import { chains, leavesOf, linesOf as linesOfPeriod, periodOf, vectorOf } from './period-vectors.ts';
import { policySigner as nextLogSigner } from './policy-vectors.ts';
import { invalid, valid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

type Shown = { size: number; time: string; signer?: typeof logSigner };

const instant = (time: string) => `2026-02-01T${time}Z`;
/** Receipts of another session, earlier in the log. */
const earlierReceipt = () => chainOf(1, { session: 'session-0', from: 50 }).receipts.map(leafOf);

/**
 * Vectors on the times of checkpoints. The times must agree with each other, and with receipts outside the checkpoints.
 */
export async function timeVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await bounds()), ...(await endedLogKeys()), ...(await datedEnds()) };
}

async function bounds(): Promise<Record<string, ReceiptVector>> {
  const [before, end] = [
    { size: 1, time: instant('00:00:00.500') },
    { size: 5, time: instant('01:00:00.000') },
  ];
  return {
    'valid/bounded-from-below': valid(
      'The last checkpoint before the session bounds when its receipts were sealed.',
      await shownBy([before, end]),
    ),
    'valid/sealed-a-minute-before-a-checkpoint': valid(
      'A receipt dated a minute before a checkpoint that lacks it: the clocks of two kernels may differ so far.',
      await shownBy([before, { size: 2, time: instant('00:01:02.000') }, end]),
    ),
    'invalid/dated-before-a-checkpoint-that-lacks-it': invalid(
      'A receipt dated over a minute before a checkpoint that lacks it, so it was sealed later than it claims.',
      'TIME_MISMATCH',
      await shownBy([before, { size: 2, time: instant('00:01:02.001') }, end]),
      1,
    ),
    'invalid/dated-before-the-log-began-to-hold-it': invalid(
      'A session dated long before the last checkpoint without it.',
      'TIME_MISMATCH',
      await shownBy([{ size: 1, time: instant('00:50:00.000') }, end]),
      -1,
    ),
    'valid/issued-a-minute-after-a-smaller-checkpoint': valid(
      'A receipt dated a minute after an earlier checkpoint of the header that contains it too.',
      await shownBy([{ size: 4, time: '2026-01-31T23:59:03.000Z' }, end]),
    ),
    'invalid/issued-after-a-smaller-checkpoint': invalid(
      'A receipt dated over a minute after an earlier checkpoint that contains it, though its proof names a later one.',
      'TIME_MISMATCH',
      await shownBy([{ size: 4, time: '2026-01-31T23:59:02.999Z' }, end]),
      2,
    ),
    'invalid/checkpoint-dated-before-a-smaller-one': invalid(
      'Two checkpoints of one log, of which the larger is dated before the smaller.',
      'TIME_MISMATCH',
      await shownBy([
        { size: 1, time: instant('00:30:00.000') },
        { size: 5, time: instant('00:29:59.999') },
      ]),
      -2,
    ),
  };
}

/** A log key that had ended when the receipt key was revoked proves nothing: one thief may have stolen both keys. */
async function endedLogKeys(): Promise<Record<string, ReceiptVector>> {
  const revoked_at = instant('00:30:00.000');
  const keys = (valid_until: string) => {
    const { keys: ended } = testKeys({ revoked_at }, { valid_until });
    return { keys: [...ended, jwkOf(nextLogSigner, 'log'), jwkOf(strangeSigner, 'receipts')] };
  };
  const seen = await shownBy(
    [
      { size: 4, time: instant('00:10:00.000') },
      { size: 5, time: instant('01:00:00.000'), signer: nextLogSigner },
    ],
    { headBy: strangeSigner, proofSize: 4 },
  );
  return {
    'valid/revoked-and-seen-by-a-log-key-that-ended-later': valid(
      'A revoked key, and a checkpoint from before by a log key that ended after the revocation.',
      seen,
      keys(instant('00:30:00.001')),
    ),
    'invalid/revoked-and-seen-by-a-log-key-that-had-ended': invalid(
      'A revoked key, and a checkpoint from before by a log key that had ended at the revocation: one thief may have both.',
      'KEY_REVOKED',
      seen,
      0,
      keys(revoked_at),
    ),
  };
}

async function datedEnds(): Promise<Record<string, ReceiptVector>> {
  const whole = await periodOf(chains());
  const leaves = [...leavesOf(chains()), leafOf(whole.end.period.receipt)];
  const checkpoint = noteOver(leaves, { time: instant('00:19:59.999') });
  return {
    'invalid/period-checkpoint-dated-before-its-header': vectorOf(
      'A statement whose own checkpoint is dated before the one of the header, which it extends.',
      linesOfPeriod({ ...whole, end: { ...whole.end, checkpoint } }),
      { verdict: 'NOT_VERIFIED', code: 'TIME_MISMATCH', line: 6 },
    ),
  };
}

/** A session of three receipts and its head statement, after a receipt of another session, with these checkpoints. */
async function shownBy(
  checkpoints: Shown[],
  { headBy, proofSize = 5 }: { headBy?: typeof logSigner; proofSize?: number } = {},
): Promise<Exported> {
  const chain = chainOf(3);
  const { receipt, record } = headOf(chain);
  const head = headBy === undefined ? receipt : sign(receipt.payload, headBy);
  const leaves = [...earlierReceipt(), ...chain.receipts.map(leafOf), leafOf(head)];
  const links = checkpoints
    .slice(1)
    .map(({ size }, at) => consistencyOf(leaves.slice(0, size), checkpoints[at]?.size ?? 0));
  const lines = chain.receipts.map(async (signed, at): Promise<Line> => {
    const proof = await proofOf(at + 1, leaves.slice(0, proofSize));
    return { receipt: signed, record: chain.records[at] ?? {}, proof };
  });
  return {
    header: {
      format: 'countersign/chain-export.v2',
      checkpoints: checkpoints.map(({ size, ...segments }) => noteOver(leaves.slice(0, size), segments)),
      consistency: await Promise.all(links),
    },
    heads: [{ head: { receipt: head, record, proof: await proofOf(4, leaves) } }],
    receipts: await Promise.all(lines),
  };
}
