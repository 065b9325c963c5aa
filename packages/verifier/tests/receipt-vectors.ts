import { makeMoneyVectors } from './money-vectors.ts';
import { makeCappedVectors } from './capped-vectors.ts';
import { makePolicyVectors } from './policy-vectors.ts';
import {
  chainOf,
  chainOfRecords,
  exportOf,
  hashOf,
  headOf,
  jwkOf,
  linesOf,
  logSigner,
  receiptHashOf,
  recordOf,
  settledChain,
  sign,
  strangeSigner,
  testKeys,
  testSigner,
} from './chain-fixture.ts';
import type { Chain, Exported, Receipt } from './chain-fixture.ts';
import { base, bareOf, bare, changedAt, valid, invalid, hiding, undecidable, under } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';
import { brokenAttachments, brokenLog, shortExports, revocations } from './evidence-vectors.ts';
import { contradictions, brokenOutcomes } from './contradiction-vectors.ts';
import { shadowVectors } from './shadow-vectors.ts';
import { traceVectors } from './trace-vectors.ts';
import { asOfVectors } from './as-of-vectors.ts';
import { periodVectors } from './period-vectors.ts';
import { packVectors } from './pack-vectors.ts';
import { placeVectors } from './place-vectors.ts';
import { timeVectors } from './time-vectors.ts';
import { witnessVectors } from './witness-vectors.ts';
import { checkpointVectors } from './checkpoint-vectors.ts';
import { approvalPackVectors } from './approval-pack-vectors.ts';
import { passkeyVectors } from './passkey-vectors.ts';
import { usedApprovals } from './approval-vectors.ts';

/** All vectors by their paths. They are deterministic: fixed keys, fixed times, fixed ids. */
export async function makeReceiptVectors(): Promise<Record<string, ReceiptVector>> {
  return {
    ...(await validVectors()),
    ...(await brokenReceipts()),
    ...(await brokenChains()),
    ...(await brokenAttachments()),
    ...(await brokenLog()),
    ...(await shortExports()),
    ...(await revocations()),
    ...(await makeMoneyVectors()),
    ...(await makePolicyVectors()),
    ...(await makeCappedVectors()),
    ...(await contradictions()),
    ...(await shadowVectors()),
    ...(await traceVectors()),
    ...(await usedApprovals()),
    ...(await passkeyVectors()),
    ...(await packVectors()),
    ...(await periodVectors()),
    ...(await asOfVectors()),
    ...(await placeVectors()),
    ...(await approvalPackVectors()),
    ...(await timeVectors()),
    ...(await checkpointVectors()),
    ...(await witnessVectors()),
    ...(await brokenOutcomes()),
  };
}

async function validVectors(): Promise<Record<string, ReceiptVector>> {
  const rotated = chainOf(3);
  const oldKey = { ...jwkOf(testSigner, 'receipts'), valid_until: '2026-02-01T00:00:03.000Z' };
  const last = rotated.receipts[2];
  if (last !== undefined) rotated.receipts[2] = sign(last.payload, strangeSigner);
  const newKey = { ...jwkOf(strangeSigner, 'receipts'), valid_from: '2026-02-01T00:00:03.000Z' };
  const log = jwkOf(logSigner, 'log');
  const large = {
    numbers: [1e20, 9007199254740992, 1e21, -0],
    deep: JSON.parse(`${'['.repeat(32)}${']'.repeat(32)}`) as never,
  };
  return {
    'valid/one-session': valid(
      'Three receipts of one session, with head, records, proofs and checkpoint.',
      await base(),
    ),
    'valid/two-sessions': valid(
      'Two sessions side by side, each from position 1.',
      await exportOf([chainOf(2), chainOf(2, { session: 'session-2', from: 10 })]),
    ),
    'valid/settled': valid('A decision, and the outcome that settles it.', await exportOf([settledChain()])),
    'valid/facts-of-any-kind': valid(
      'Facts with integers beyond 2^53 and as deep as arguments may be.',
      await exportOf([chainOfRecords([recordOf(1, { intent: { facts: large } })])]),
    ),
    'valid/rotated-key': valid(
      'The second key begins where the first ends; both keep verifying.',
      await rotatedExport(rotated),
      {
        keys: [oldKey, newKey, log],
      },
    ),
    'valid/revoked-afterwards': valid(
      'A key that was revoked after a checkpoint had seen what it signed.',
      await base(),
      testKeys({ revoked_at: '2026-03-01T00:00:00.000Z' }),
    ),
  };
}

/** The second key signs the head statement, because the first key is no longer valid at that time. */
async function rotatedExport(rotated: Chain): Promise<Exported> {
  const { receipt, record } = headOf(rotated);
  const whole = await exportOf(
    [{ receipts: [...rotated.receipts, sign(receipt.payload, strangeSigner)], records: [...rotated.records, record] }],
    {
      heads: false,
    },
  );
  return { ...whole, heads: whole.receipts.slice(-1).map((head) => ({ head })), receipts: whole.receipts.slice(0, -1) };
}

async function brokenReceipts(): Promise<Record<string, ReceiptVector>> {
  const changedVerdict = (receipt: Receipt) => ({ ...receipt, payload: { ...receipt.payload, verdict: 'ALLOW' } });
  const forged = (receipt: Receipt) => ({
    ...sign(receipt.payload, strangeSigner),
    signature: { ...sign(receipt.payload, strangeSigner).signature, key_id: testSigner.keyId },
  });
  const padded = ({ payload, signature }: Receipt) => ({
    payload,
    signature: {
      ...signature,
      value: `${signature.value.slice(0, 85)}${nextCharacter(signature.value)}`,
    },
  });
  return {
    'invalid/payload-changed': invalid(
      'A denial that was made to look like an allow.',
      'SIGNATURE_INVALID',
      await changedAt(1, changedVerdict),
      1,
    ),
    'invalid/signed-by-another-key': invalid(
      'Signed by a stranger under the name of a trusted key.',
      'SIGNATURE_INVALID',
      await changedAt(1, forged),
      1,
    ),
    'invalid/signature-not-canonical': invalid(
      'The unused bits of the last base64url character are set.',
      'SIGNATURE_INVALID',
      await changedAt(0, padded),
      0,
    ),
    'undecidable/key-unknown': undecidable(
      'Signed by a key that is not trusted.',
      await changedAt(1, ({ payload }) => sign(payload, strangeSigner)),
      4,
    ),
    'undecidable/signed-by-the-log': undecidable(
      'Signed by the key of the log, which signs no receipts.',
      await changedAt(1, ({ payload }) => sign(payload, logSigner)),
      4,
    ),
    'invalid/signed-again': invalid(
      'The same payload, signed again by another key that is trusted: another receipt than the one that was sealed.',
      'INCLUSION_UNPROVEN',
      await changedAt(2, ({ payload }) => sign(payload, strangeSigner)),
      2,
      { keys: [...testKeys().keys, jwkOf(strangeSigner, 'receipts')] },
    ),
    'invalid/impossible-date': invalid(
      'Issued on 30 February.',
      'MALFORMED',
      await changedAt(0, ({ payload }) => sign({ ...payload, issued_at: '2026-02-30T00:00:00.000Z' })),
      0,
    ),
    'invalid/proto-member': hiding('A receipt line with a member __proto__, which many readers never see.', {
      lines: linesOf(await base()).with(2, linesOf(await base())[2]?.replace('{', '{"__proto__":{"x":1},') ?? ''),
    }),
    'invalid/proto-fact': hiding('A fact named __proto__ that was put into a sealed record.', {
      lines: linesOf(await base()).with(
        2,
        linesOf(await base())[2]?.replace('"facts":{', '"facts":{"__proto__":{"x":1},') ?? '',
      ),
    }),
    'invalid/line-too-deep': hiding('A receipt line with a fact that makes it deeper than 64 levels.', {
      lines: linesOf(await base()).with(
        2,
        linesOf(await base())[2]?.replace('"facts":{', `"facts":{"x":${'['.repeat(64)}${']'.repeat(64)},`) ?? '',
      ),
    }),
    'invalid/allow-for-a-denying-reason': invalid(
      'A receipt that allows for a reason that denies.',
      'VERDICT_MISMATCH',
      await bareOf([chainOfRecords([recordOf(1)], { 1: { verdict: 'ALLOW' } })]),
      0,
    ),
    'invalid/denial-for-no-reason': invalid(
      'A receipt that denies and says ALLOWED.',
      'VERDICT_MISMATCH',
      await bareOf([chainOfRecords([recordOf(1)], { 1: { reason_code: 'ALLOWED' } })]),
      0,
    ),
    'invalid/key-not-valid-yet': under(
      testKeys({ valid_from: '2026-02-02T00:00:00.000Z' }),
      invalid('Issued before the key became valid.', 'KEY_NOT_VALID_YET', await bare(), 0),
    ),
    'invalid/key-expired': under(
      testKeys({ valid_until: '2026-02-01T00:00:02.000Z' }),
      invalid('Issued at the instant the key ends.', 'KEY_EXPIRED', await bare(), 1),
    ),
    'invalid/key-revoked': under(
      testKeys({ revoked_at: '2026-02-01T00:00:02.000Z' }),
      invalid('Issued at the instant of the revocation.', 'KEY_REVOKED', await seenEarly(), 1),
    ),
    'invalid/unknown-member': invalid(
      'A payload with a member that the format has not.',
      'MALFORMED',
      await changedAt(0, ({ payload }) => sign({ ...payload, note: 'x' })),
    ),
    'invalid/another-algorithm': invalid(
      'A signature that names another algorithm.',
      'MALFORMED',
      await changedAt(0, ({ payload, signature }) => ({ payload, signature: { ...signature, alg: 'none' } })),
    ),
  };
}

async function brokenChains(): Promise<Record<string, ReceiptVector>> {
  const { receipts } = chainOf(3);
  const only = (chain: (Receipt | undefined)[]): Exported => ({
    header: { format: 'countersign/chain-export.v2', checkpoints: [], consistency: [] },
    heads: [],
    receipts: chain.flatMap((receipt) => (receipt === undefined ? [] : [{ receipt }])),
  });
  const [first, second, third] = receipts;
  const rival = chainOf(2, { from: 50 }).receipts[1];
  const inserted = rival && first && sign({ ...rival.payload, prev_hash: receiptHashOf(first) });
  const orphan = second && sign({ ...second.payload, prev_hash: hashOf('another predecessor') });
  const born = first && sign({ ...first.payload, prev_hash: hashOf('no predecessor exists') });
  const unsigned = first && second && sign({ ...second.payload, prev_hash: hashOf(first.payload) });
  const earlier = second && sign({ ...second.payload, issued_at: '2026-02-01T00:00:00.999Z' });
  return {
    'invalid/receipt-removed': invalid(
      'The second of three receipts is missing.',
      'CHAIN_GAP',
      only([first, third]),
      1,
    ),
    'invalid/beginning-removed': invalid('The chain begins at position 2.', 'CHAIN_GAP', only([second, third]), 0),
    'invalid/reordered': invalid('Positions 2 and 3 change places.', 'CHAIN_GAP', only([first, third, second]), 1),
    'invalid/receipt-inserted': invalid(
      'A second receipt of position 2, rightly signed.',
      'CHAIN_FORK',
      only([first, second, inserted]),
      2,
    ),
    'invalid/receipt-repeated': invalid('The same receipt twice.', 'DUPLICATE', only([first, first, second]), 1),
    'invalid/another-predecessor': invalid(
      'Position 2 names a predecessor that is not position 1.',
      'PREV_HASH_MISMATCH',
      only([first, orphan]),
      1,
    ),
    'invalid/predecessor-without-signature': invalid(
      "Position 2 names the hash of its predecessor's payload alone.",
      'PREV_HASH_MISMATCH',
      only([first, unsigned]),
      1,
    ),
    'invalid/first-with-predecessor': invalid('Position 1 names a predecessor.', 'PREV_HASH_MISMATCH', only([born]), 0),
    'invalid/time-goes-back': invalid(
      'Position 2 was issued before position 1.',
      'TIME_MISMATCH',
      only([first, earlier]),
      1,
    ),
  };
}

async function seenEarly(): Promise<Exported> {
  return bareOf([chainOf(3)], '2026-02-01T00:00:01.500Z');
}

// Returns a character that decodes to the same bytes. A valid last character ends with four zero bits, so its successor
// has the same two significant bits.
function nextCharacter(value: string): string {
  return String.fromCharCode(value.charCodeAt(85) + 1);
}
