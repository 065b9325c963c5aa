import {
  appendTo,
  chainOf,
  chainOfRecords,
  exportOf,
  hashOf,
  idOf,
  noteOver,
  outcomeOf,
  recordOf,
  settledChain,
  sign,
  strangeSigner,
  testKeys,
  testSigner,
} from './chain-fixture.ts';
import { leafHash, publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Chain, Changes, Members, Receipt } from './chain-fixture.ts';
import { makeMoneyVectors } from './money-vectors.ts';
import { invalid, valid, type ReceiptVector } from './vector.ts';

type Exported = Members & { receipts: Receipt[]; records: Members[]; proofs: Members[]; checkpoint: Members };

/** Every vector by its path. Deterministic: fixed keys, fixed times, fixed ids. */
export async function makeReceiptVectors(): Promise<Record<string, ReceiptVector>> {
  return {
    ...(await validVectors()),
    ...(await brokenReceipts()),
    ...(await brokenChains()),
    ...(await brokenAttachments()),
    ...(await contradictions()),
    ...(await brokenOutcomes()),
    ...(await makeMoneyVectors()),
  };
}

async function validVectors(): Promise<Record<string, ReceiptVector>> {
  const rotated = chainOf(3);
  const oldKey = { ...testKeys().keys[0], valid_until: '2026-02-01T00:00:03.000Z' };
  const last = rotated.receipts[2];
  if (last !== undefined) rotated.receipts[2] = sign(last.payload, strangeSigner);
  const newKey = {
    ...publicKeyToJwk(strangeSigner.publicKey),
    kid: strangeSigner.keyId,
    nbf: Date.parse('2026-02-01T00:00:03.000Z') / 1000,
  };
  return {
    'valid/one-session': valid('Three receipts of one session, with records, proofs and checkpoint.', await base()),
    'valid/two-sessions': valid(
      'Two sessions side by side, each from position 1.',
      await exportOf([chainOf(2), chainOf(2, { session: 'session-2', from: 10 })]),
    ),
    'valid/settled': valid('A decision, and the outcome that settles it.', await exportOf([settledChain()])),
    'valid/rotated-key': valid(
      'The second key begins where the first ends; both keep verifying.',
      await exportOf([rotated]),
      { keys: [oldKey, newKey] },
    ),
    'valid/revoked-afterwards': valid(
      'A key that was revoked after it signed. Its checkpoint, which has no time, is left out.',
      withoutLog(await base()),
      testKeys({ revoked_at: '2026-03-01T00:00:00.000Z' }),
    ),
    'valid/nothing': valid('An export without receipts proves nothing and breaks nothing.', {
      format: 'countersign/chain-export.v1',
      receipts: [],
    }),
  };
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
    'invalid/key-unknown': invalid(
      'Signed by a key that is not trusted.',
      'KEY_UNKNOWN',
      await changedAt(1, ({ payload }) => sign(payload, strangeSigner)),
      1,
    ),
    'invalid/key-not-valid-yet': under(
      testKeys({ valid_from: '2026-02-02T00:00:00.000Z' }),
      invalid('Issued before the key became valid.', 'KEY_NOT_VALID_YET', await base(), 0),
    ),
    'invalid/key-expired': under(
      testKeys({ valid_until: '2026-02-01T00:00:02.000Z' }),
      invalid('Issued at the instant the key ends.', 'KEY_EXPIRED', await base(), 1),
    ),
    'invalid/key-revoked': under(
      testKeys({ revoked_at: '2026-02-01T00:00:02.000Z' }),
      invalid('Issued at the instant of the revocation.', 'KEY_REVOKED', await base(), 1),
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
  const bare = (chain: (Receipt | undefined)[]) =>
    ({ format: 'countersign/chain-export.v1', receipts: chain }) as unknown as Members; // plain JSON
  const [first, second, third] = receipts;
  const rival = chainOf(2, { from: 50 }).receipts[1];
  const inserted = rival && first && sign({ ...rival.payload, prev_hash: hashOf(first.payload) });
  const orphan = second && sign({ ...second.payload, prev_hash: hashOf('another predecessor') });
  const born = first && sign({ ...first.payload, prev_hash: hashOf('no predecessor exists') });
  return {
    'invalid/receipt-removed': invalid(
      'The second of three receipts is missing.',
      'CHAIN_GAP',
      bare([first, third]),
      1,
    ),
    'invalid/beginning-removed': invalid('The chain begins at position 2.', 'CHAIN_GAP', bare([second, third]), 0),
    'invalid/reordered': invalid('Positions 2 and 3 change places.', 'CHAIN_GAP', bare([first, third, second]), 1),
    'invalid/receipt-inserted': invalid(
      'A second receipt of position 2, rightly signed.',
      'CHAIN_FORK',
      bare([first, second, inserted]),
      2,
    ),
    'invalid/receipt-repeated': invalid('The same receipt twice.', 'DUPLICATE', bare([first, first, second]), 1),
    'invalid/another-predecessor': invalid(
      'Position 2 names a predecessor that is not position 1.',
      'PREV_HASH_MISMATCH',
      bare([first, orphan]),
      1,
    ),
    'invalid/first-with-predecessor': invalid('Position 1 names a predecessor.', 'PREV_HASH_MISMATCH', bare([born]), 0),
  };
}

async function brokenAttachments(): Promise<Record<string, ReceiptVector>> {
  const whole = await base();
  const [record, ...records] = whole.records;
  const retold: Members = { ...record, reason_code: 'EGRESS_BLOCKED' };
  const { record_hash: _old, ...unhashed } = retold;
  const [proof, ...proofs] = whole.proofs;
  const leaves = whole.receipts.map(({ payload }) => leafHash(nodeProvider, new TextEncoder().encode(hashOf(payload))));
  return {
    'invalid/record-changed': invalid('A record whose facts were changed.', 'RECORD_HASH_MISMATCH', {
      ...whole,
      records: [retold, ...records],
    }),
    'invalid/record-rewritten': invalid(
      'A changed record with a fresh hash, which the receipt does not hold.',
      'LINK_MISMATCH',
      { ...whole, records: [{ ...unhashed, record_hash: hashOf(unhashed) }, ...records] },
    ),
    'invalid/record-without-receipt': invalid('A record of a receipt that is not there.', 'LINK_MISMATCH', {
      format: whole['format'] ?? null,
      receipts: [],
      records: whole.records,
    }),
    'invalid/record-repeated': invalid('Two records of one receipt.', 'DUPLICATE', {
      ...whole,
      records: [...whole.records, record ?? null],
    }),
    'invalid/proof-repeated': invalid('The proof of one receipt twice.', 'DUPLICATE', {
      ...whole,
      proofs: [...whole.proofs, proof ?? null],
    }),
    'invalid/proof-of-another-leaf': invalid('A proof with the index of its neighbour.', 'INCLUSION_UNPROVEN', {
      ...whole,
      proofs: [{ ...proof, log_index: 1 }, ...proofs],
    }),
    'invalid/proof-of-another-size': invalid(
      'A proof for a tree that the checkpoint does not sign.',
      'INCLUSION_UNPROVEN',
      { ...whole, proofs: [{ ...proof, tree_size: 4 }, ...proofs] },
    ),
    'invalid/proofs-without-checkpoint': invalid('Proofs that lead to no signed root.', 'INCLUSION_UNPROVEN', {
      format: whole['format'] ?? null,
      receipts: whole.receipts,
      proofs: whole.proofs,
    }),
    'invalid/leaf-of-hex-text': invalid(
      'Leaves made of the text of the hash where its 32 bytes belong.',
      'INCLUSION_UNPROVEN',
      { ...whole, checkpoint: { note: noteOver(leaves) } },
    ),
    'invalid/checkpoint-of-unknown-key': invalid('A checkpoint signed by a stranger.', 'CHECKPOINT_INVALID', {
      ...whole,
      checkpoint: { note: noteOver(leaves, strangeSigner) },
    }),
    'invalid/checkpoint-of-revoked-key': under(
      testKeys({ revoked_at: '2026-03-01T00:00:00.000Z' }),
      invalid(
        'A checkpoint of a key that was revoked: nobody can tell when it was signed.',
        'CHECKPOINT_INVALID',
        whole,
      ),
    ),
  };
}

/** Rightly hashed, signed and chained, and still not what a kernel says: only who makes the members again sees it. */
async function contradictions(): Promise<Record<string, ReceiptVector>> {
  const approval = idOf('apr', 7);
  const about = async (code: string, what: string, chain: Chain, index?: number) =>
    invalid(what, code, await exportOf([chain]), index);
  const record = (changes: Members, signed: Changes = {}) => chainOfRecords([recordOf(1, changes)], { 1: signed });
  const link = 'LINK_MISMATCH';
  return {
    'invalid/intent-of-another-call': await about(
      'INTENT_HASH_MISMATCH',
      'An intent_hash that is not of the call which the record names.',
      record({ intent: { intent_hash: hashOf('another call') } }),
    ),
    'invalid/record-of-another-tool': await about(
      'INTENT_HASH_MISMATCH',
      'A record that names another tool than its intent_hash.',
      record({ intent: { tool: 'mail.read' } }),
    ),
    'invalid/roster-of-other-gates': await about(
      'ROSTER_HASH_MISMATCH',
      'A gate_roster_hash that is not of the gates in the trace.',
      record({ gate_roster_hash: hashOf(['rules', 'budget']) }),
    ),
    'invalid/verdict-against-the-trace': await about(
      'VERDICT_MISMATCH',
      'An allow whose trace holds a gate that denied.',
      record({ verdict: 'ALLOW', reason_code: 'ALLOWED' }),
    ),
    'invalid/reason-against-the-trace': await about(
      'VERDICT_MISMATCH',
      'A denial for another reason than the gate that denied gave.',
      record({ reason_code: 'EGRESS_BLOCKED' }),
    ),
    'invalid/decision-without-trace': await about(
      'VERDICT_MISMATCH',
      'A decision that no gate made.',
      record({ gates: [] }),
    ),
    'invalid/record-of-another-ulid': await about(
      link,
      'A record whose id does not share the ULID of its receipt.',
      record({ record_id: idOf('rec', 2) }),
    ),
    'invalid/record-of-another-time': await about(
      link,
      'A receipt that was issued at another time than its record tells.',
      record({}, { issued_at: '2026-02-01T00:00:02.000Z' }),
    ),
    'invalid/approval-only-in-record': await about(
      link,
      'A record that names an approval which its receipt hides.',
      chainOfRecords([recordOf(1, { approval_id: approval })], { 1: { approval_id: undefined } }),
    ),
    'invalid/approval-only-in-receipt': await about(
      link,
      'A receipt that names an approval which its record does not know.',
      record({}, { approval_id: approval }),
    ),
    'invalid/decision-of-another-ulid': await about(
      link,
      'A receipt whose decision_id does not share its ULID.',
      record({ decision_id: idOf('dec', 2) }),
      0,
    ),
    'invalid/decision-with-outcome': await about(
      link,
      'A decision that claims an outcome.',
      record({}, { outcome: 'completed' }),
      0,
    ),
    'invalid/decision-with-output': await about(
      link,
      'A decision that claims an output.',
      record({}, { output_hash: hashOf('output') }),
      0,
    ),
    'invalid/decision-that-settles': await about(
      link,
      'A decision that claims to settle a receipt.',
      record({}, { decision_receipt_id: idOf('rcp', 1) }),
      0,
    ),
  };
}

async function brokenOutcomes(): Promise<Record<string, ReceiptVector>> {
  const about = async (what: string, chain: Chain, { code = 'LINK_MISMATCH', index = 1 } = {}) =>
    invalid(what, code, await exportOf([chain]), index);
  const outcome = (changes: Changes) => settledChain({ outcome: changes });
  const repeated = settledChain();
  appendTo(repeated.receipts, { ...outcomeOf(repeated.records[0] ?? {}), receipt_id: idOf('rcp', 901) });
  const orphan = chainOfRecords([recordOf(2)]);
  appendTo(orphan.receipts, outcomeOf(recordOf(1)));
  const denied = { verdict: 'DENY', reason_code: 'POLICY_DENIED', gates: [gateThatDenies] };
  return {
    'invalid/outcome-of-nothing': await about(
      'An outcome that does not say which receipt it settles.',
      outcome({ decision_receipt_id: undefined }),
    ),
    'invalid/outcome-unsaid': await about(
      'An outcome that does not say how it ended.',
      outcome({ outcome: undefined }),
    ),
    'invalid/outcome-of-another-decision': await about(
      'An outcome whose decision_id and decision_receipt_id name two decisions.',
      outcome({ decision_id: idOf('dec', 2) }),
    ),
    'invalid/outcome-of-absent-decision': await about(
      'An outcome of a decision that its whole chain does not hold.',
      orphan,
    ),
    'invalid/outcome-of-another-record': await about(
      'An outcome that seals another record than its decision.',
      outcome({ record_hash: hashOf('another record') }),
    ),
    'invalid/outcome-of-another-call': await about(
      'An outcome whose arguments are not those that were decided.',
      outcome({ args_hash: hashOf('other arguments') }),
    ),
    'invalid/outcome-of-denied-call': await about(
      'An outcome of a call that was denied.',
      settledChain({ decided: denied }),
    ),
    'invalid/outcome-repeated': await about('Two outcomes of one decision.', repeated, { code: 'DUPLICATE', index: 2 }),
  };
}

const gateThatDenies = { gate: 'rules', outcome: 'deny', reason_code: 'POLICY_DENIED' };

async function base(): Promise<Exported> {
  return (await exportOf([chainOf(3)])) as Exported; // exportOf sets these members
}

async function changedAt(index: number, change: (receipt: Receipt) => Receipt): Promise<Members> {
  const whole = await base();
  return {
    ...whole,
    receipts: whole.receipts.map((receipt, at) => (at === index ? change(receipt) : receipt)),
  }; // plain JSON
}

function withoutLog({ format, receipts, records }: Exported): Members {
  return { format, receipts, records } as unknown as Members; // plain JSON
}

// The next character of the alphabet shares the two bits that count, because each valid last character has four zero bits.
function nextCharacter(value: string): string {
  return String.fromCharCode(value.charCodeAt(85) + 1);
}

function under(keys: ReceiptVector['keys'], vector: ReceiptVector): ReceiptVector {
  return { ...vector, keys };
}
