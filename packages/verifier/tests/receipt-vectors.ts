import {
  appendTo,
  chainOf,
  chainOfRecords,
  exportOf,
  hashOf,
  headOf,
  idOf,
  jwkOf,
  leafOf,
  linesOf,
  logSigner,
  noteOver,
  ORIGIN,
  outcomeOf,
  receiptHashOf,
  recordOf,
  settledChain,
  sign,
  strangeSigner,
  testKeys,
  testSigner,
} from './chain-fixture.ts';
import { formatCheckpoint, leafHash, rootOf, signNote } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Chain, Changes, Exported, Line, Members, Receipt } from './chain-fixture.ts';

type Verdict = 'VERIFIED' | 'INCOMPLETE' | 'UNDECIDABLE' | 'NOT_VERIFIED';

/** One file of contracts/vectors/receipts: the lines of an export, the keys to trust, and what a verifier must answer. */
export type ReceiptVector = {
  about: string;
  keys: { keys: Members[] };
  export: string[];
  expect: { verdict: Verdict; code?: string; line?: number; missing?: string[] };
};

/** Every vector by its path. Deterministic: fixed keys, fixed times, fixed ids. */
export async function makeReceiptVectors(): Promise<Record<string, ReceiptVector>> {
  return {
    ...(await validVectors()),
    ...(await brokenReceipts()),
    ...(await brokenChains()),
    ...(await brokenAttachments()),
    ...(await brokenLog()),
    ...(await shortExports()),
    ...(await revocations()),
    ...(await contradictions()),
    ...(await brokenOutcomes()),
  };
}

async function validVectors(): Promise<Record<string, ReceiptVector>> {
  const rotated = chainOf(3);
  const oldKey = { ...jwkOf(testSigner, 'receipts'), valid_until: '2026-02-01T00:00:03.000Z' };
  const last = rotated.receipts[2];
  if (last !== undefined) rotated.receipts[2] = sign(last.payload, strangeSigner);
  const { valid_from: _beginning, ...strange } = jwkOf(strangeSigner, 'receipts');
  const newKey = { ...strange, nbf: Date.parse('2026-02-01T00:00:03.000Z') / 1000 };
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

/** The head statement is the second key's, as everything is by then. */
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
    header: { format: 'countersign/chain-export.v2', checkpoints: [] },
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

async function brokenAttachments(): Promise<Record<string, ReceiptVector>> {
  const whole = await base();
  const record = whole.receipts[0]?.record ?? {};
  const retold: Members = { ...record, matched_rules: ['another-rule'] };
  const { record_hash: _old, ...unhashed } = retold;
  const leaves = await leavesOf(whole);
  const proof = whole.receipts[0]?.proof ?? {};
  return {
    'invalid/record-changed': invalid(
      'A record that was changed.',
      'RECORD_HASH_MISMATCH',
      withLine(whole, { record: retold }),
      0,
    ),
    'invalid/record-rewritten': invalid(
      'A changed record with a fresh hash, which the receipt does not hold.',
      'LINK_MISMATCH',
      withLine(whole, { record: { ...unhashed, record_hash: hashOf(unhashed) } }),
      0,
    ),
    'invalid/record-of-another-receipt': invalid(
      'The record of the next receipt.',
      'LINK_MISMATCH',
      withLine(whole, { record: whole.receipts[1]?.record ?? {} }),
      0,
    ),
    'invalid/proof-of-another-leaf': invalid(
      'A proof with the index of its neighbour.',
      'INCLUSION_UNPROVEN',
      withLine(whole, { proof: { ...proof, log_index: 1 } }),
      0,
    ),
    'invalid/proof-of-another-size': invalid(
      'A proof for a tree that no checkpoint signs.',
      'INCLUSION_UNPROVEN',
      withLine(whole, { proof: { ...proof, tree_size: 40 } }),
      0,
    ),
    'invalid/leaf-of-hex-text': invalid(
      'Leaves made of the text of the hash where its 32 bytes belong.',
      'INCLUSION_UNPROVEN',
      { ...(await bareOf([chainOf(3)])), header: { ...whole.header, checkpoints: [noteOver(await hexLeaves())] } },
      0,
    ),
    'invalid/unknown-member-of-line': invalid(
      'A receipt line with a member that the format has not.',
      'MALFORMED',
      withLine(whole, { note: 'x' } as never), // which its type has not either
      0,
    ),
    'invalid/head-behind-receipts': hiding('A head statement that stands behind a receipt.', {
      lines: [0, 2, 1].map((at) => linesOf(whole)[at] ?? ''),
      line: 3,
    }),
    'invalid/head-of-another-receipt': invalid(
      'A head statement that names another receipt at the place where the chain ends.',
      'HEAD_MISMATCH',
      await withHead({ receipt_hash: hashOf('another') }),
      2,
    ),
    'invalid/head-without-proof': invalid(
      'A head statement that is no leaf of the log.',
      'HEAD_MISMATCH',
      { ...whole, heads: whole.heads.map(({ head: { proof: _proof, ...head } }) => ({ head })) },
      -1,
    ),
    'invalid/checkpoint-repeated': invalid(
      'The same checkpoint twice.',
      'DUPLICATE',
      { ...whole, header: { ...whole.header, checkpoints: [noteOver(leaves), noteOver(leaves)] } },
      -2,
    ),
  };
}

/** Who signs the log, for which log, and when. */
async function brokenLog(): Promise<Record<string, ReceiptVector>> {
  const whole = await base();
  const unknown = 'A checkpoint of a log whose key is not trusted';
  return {
    'undecidable/checkpoint-of-unknown-key': undecidable(
      `${unknown}.`,
      await exportOf([chainOf(3)], { signer: strangeSigner }),
      1,
    ),
    'undecidable/checkpoint-of-receipt-key': undecidable(
      'A checkpoint signed by the key of the receipts: who takes it must not be able to make the log too.',
      await exportOf([chainOf(3)], { signer: testSigner }),
      1,
    ),
    'undecidable/checkpoint-of-another-log': {
      ...undecidable(`${unknown} for this origin.`, whole, 1),
      keys: testKeys({}, { log_origin: 'log.example.org/another' }),
    },
    'invalid/checkpoint-before-its-key': {
      ...invalid('A checkpoint signed before the key of the log became valid.', 'KEY_NOT_VALID_YET', whole, -2),
      keys: testKeys({}, { valid_from: '2026-02-02T00:00:00.000Z' }),
    },
    'invalid/checkpoint-of-expired-key': {
      ...invalid('A checkpoint signed at the instant the key of the log ends.', 'KEY_EXPIRED', whole, -2),
      keys: testKeys({}, { valid_until: '2026-02-01T01:00:00.000Z' }),
    },
    'invalid/checkpoint-of-revoked-key': {
      ...invalid(
        'A checkpoint of a log key that was revoked: nobody saw when it was signed.',
        'KEY_REVOKED',
        whole,
        -2,
      ),
      keys: testKeys({}, { revoked_at: '2026-03-01T00:00:00.000Z' }),
    },
    'invalid/checkpoint-without-time': invalid(
      'A checkpoint that does not say when it was signed.',
      'CHECKPOINT_INVALID',
      { ...whole, header: { ...whole.header, checkpoints: [timeless(await leavesOf(whole))] } },
      -2,
    ),
  };
}

/** Nothing is wrong with what they hold. */
async function shortExports(): Promise<Record<string, ReceiptVector>> {
  const whole = await base();
  const { receipt, proof } = whole.receipts[0] ?? ({} as Line); // three receipts are there
  const without = (change: Partial<Line>) =>
    ({ ...whole, receipts: [{ receipt, ...change }, ...whole.receipts.slice(1)] }) as Exported;
  return {
    'invalid/nothing': {
      ...invalid('An export without receipts breaks nothing and proves nothing.', 'EMPTY', {
        ...whole,
        heads: [],
        receipts: [],
      }),
      expect: { verdict: 'NOT_VERIFIED', code: 'EMPTY' },
    },
    'incomplete/end-removed': incomplete(
      'The last receipt is gone, and the head statement tells.',
      {
        ...whole,
        receipts: whole.receipts.slice(0, 2),
      },
      'acme/session-1: it ends at 2, and at 2026-02-01T00:20:00.000Z the log had more',
    ),
    'incomplete/without-head': incomplete(
      'Nothing says where the chain ends.',
      { ...whole, heads: [] },
      'acme/session-1: nothing says that 3 is its end',
    ),
    'incomplete/without-record': incomplete(
      'A receipt without its record.',
      without(proof === undefined ? {} : { proof }),
      '1 receipts without record, first rcp_00000000000000000000000001',
    ),
    'incomplete/without-proof': incomplete(
      'A receipt without its place in the log.',
      without({ record: whole.receipts[0]?.record ?? {} }),
      '1 receipts without place in the log, first rcp_00000000000000000000000001',
    ),
  };
}

/** Who steals a key can sign any time into a receipt. What the log had seen by then, the thief did not make. */
async function revocations(): Promise<Record<string, ReceiptVector>> {
  const revoked = testKeys({ revoked_at: '2026-02-01T00:30:00.000Z' });
  const seenLate = await bareOf([chainOf(3)]);
  return {
    'invalid/revoked-and-seen-late': under(
      revoked,
      invalid('Dated before the revocation of its key; the log saw it only afterwards.', 'KEY_REVOKED', seenLate, 0),
    ),
    'invalid/revoked-and-never-seen': under(
      revoked,
      invalid(
        'Dated before the revocation of its key; no log has it.',
        'KEY_REVOKED',
        {
          ...seenLate,
          receipts: seenLate.receipts.map(({ proof: _proof, ...line }) => line),
        },
        0,
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
    'invalid/outcome-uncertain-with-output': await about(
      'An outcome that nobody knows, with an output.',
      outcome({ outcome: 'uncertain' }),
    ),
    'invalid/outcome-repeated': await about('Two outcomes of one decision.', repeated, { code: 'DUPLICATE', index: 2 }),
  };
}

const gateThatDenies = { gate: 'rules', outcome: 'deny', reason_code: 'POLICY_DENIED' };

async function base(): Promise<Exported> {
  return exportOf([chainOf(3)]);
}

/** Without head statements, whose own keys and times would be seen first. */
async function bareOf(chains: Chain[], time?: string): Promise<Exported> {
  const whole = await exportOf(chains, { heads: false, ...(time === undefined ? {} : { time }) });
  return whole;
}

async function bare(): Promise<Exported> {
  return bareOf([chainOf(3)]);
}

async function seenEarly(): Promise<Exported> {
  return bareOf([chainOf(3)], '2026-02-01T00:00:01.500Z');
}

async function changedAt(index: number, change: (receipt: Receipt) => Receipt): Promise<Exported> {
  const whole = await base();
  const changed = (line: Line, at: number) => (at === index ? { ...line, receipt: change(line.receipt) } : line);
  return { ...whole, receipts: whole.receipts.map(changed) };
}

function withLine(whole: Exported, change: Partial<Line>): Exported {
  const [first, ...rest] = whole.receipts;
  return { ...whole, receipts: [{ ...first, ...change } as Line, ...rest] }; // three receipts are there
}

async function withHead(changes: Members): Promise<Exported> {
  const chain = chainOf(3);
  const { receipt, record } = headOf(chain, 0, changes);
  const whole = await exportOf([{ receipts: [...chain.receipts, receipt], records: [...chain.records, record] }], {
    heads: false,
  });
  return { ...whole, heads: whole.receipts.slice(3).map((head) => ({ head })), receipts: whole.receipts.slice(0, 3) };
}

async function leavesOf({ receipts, heads }: Exported): Promise<Uint8Array[]> {
  return [...receipts, ...heads.map(({ head }) => head)].map(({ receipt }) => leafOf(receipt));
}

async function hexLeaves(): Promise<Uint8Array[]> {
  return chainOf(3).receipts.map((receipt) => leafHash(nodeProvider, new TextEncoder().encode(receiptHashOf(receipt))));
}

function timeless(leaves: Uint8Array[]): string {
  const text = formatCheckpoint({ origin: ORIGIN, size: leaves.length, root: rootOf(nodeProvider, leaves) });
  return signNote(nodeProvider, text, [{ name: ORIGIN, signer: logSigner }]);
}

// The next character of the alphabet shares the two bits that count, because each valid last character has four zero bits.
function nextCharacter(value: string): string {
  return String.fromCharCode(value.charCodeAt(85) + 1);
}

function valid(about: string, exported: Exported, keys = testKeys()): ReceiptVector {
  return { about, keys, export: linesOf(exported), expect: { verdict: 'VERIFIED' } };
}

/** `index` counts the receipts: behind the header and the head statements. */
function invalid(about: string, code: string, exported: Exported, index?: number, keys = testKeys()): ReceiptVector {
  const line = index === undefined ? {} : { line: index + 2 + exported.heads.length };
  return { about, keys, export: linesOf(exported), expect: { verdict: 'NOT_VERIFIED', code, ...line } };
}

/** Lines that no value makes. */
function hiding(about: string, { lines, line = 3 }: { lines: string[]; line?: number }): ReceiptVector {
  return { about, keys: testKeys(), export: lines, expect: { verdict: 'NOT_VERIFIED', code: 'MALFORMED', line } };
}

function undecidable(about: string, exported: Exported, line: number): ReceiptVector {
  const expect = { verdict: 'UNDECIDABLE', code: 'KEY_UNKNOWN', line } as const;
  return { about, keys: testKeys(), export: linesOf(exported), expect };
}

function incomplete(about: string, exported: Exported, missing: string): ReceiptVector {
  return { about, keys: testKeys(), export: linesOf(exported), expect: { verdict: 'INCOMPLETE', missing: [missing] } };
}

function under(keys: ReceiptVector['keys'], vector: ReceiptVector): ReceiptVector {
  return { ...vector, keys };
}
