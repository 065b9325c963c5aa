import { formatCheckpoint, leafHash, rootOf, signNote } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import {
  chainOf,
  exportOf,
  hashOf,
  leafOf,
  linesOf,
  logSigner,
  noteOver,
  logOrigin,
  receiptHashOf,
  strangeSigner,
  testKeys,
  testSigner,
} from './chain-fixture.ts';
import type { Exported, Line, Members } from './chain-fixture.ts';
import { base, bareOf, invalid, hiding, undecidable, incomplete, under, withHead } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

export async function brokenAttachments(): Promise<Record<string, ReceiptVector>> {
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
      withLine(whole, { note: 'x' } as never), // the type of a line does not have this member
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
    'invalid/head-of-a-later-time': invalid(
      'A head statement about a time after the checkpoint that has it.',
      'TIME_MISMATCH',
      await withHead({ as_of: '2026-02-01T00:20:45.000Z' }, { time: '2026-02-01T00:19:44.999Z' }),
      -1,
    ),
    'invalid/issued-after-its-checkpoint': invalid(
      'A receipt that says it was issued a minute and more after the checkpoint that has it.',
      'TIME_MISMATCH',
      await bareOf([chainOf(3)], '2026-01-31T23:59:01.500Z'),
      1,
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
      { ...whole, header: { ...whole.header, checkpoints: [noteOver(leaves), noteOver(leaves)], consistency: [[]] } },
      -2,
    ),
  };
}

/** Checkpoints with a wrong signer, a wrong log name or a wrong time. */
export async function brokenLog(): Promise<Record<string, ReceiptVector>> {
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
        'A checkpoint of a log key that was revoked: no other key saw when it was signed.',
        'KEY_REVOKED',
        whole,
        -2,
      ),
      keys: testKeys({}, { revoked_at: '2026-03-01T00:00:00.000Z' }),
    },
    'invalid/checkpoint-falsely-signed': invalid(
      'A checkpoint with a signature that its key did not make.',
      'CHECKPOINT_INVALID',
      { ...whole, header: { ...whole.header, checkpoints: [redated(noteOver(await leavesOf(whole)))] } },
      -2,
    ),
    'invalid/checkpoint-without-time': invalid(
      'A checkpoint that does not say when it was signed.',
      'CHECKPOINT_INVALID',
      { ...whole, header: { ...whole.header, checkpoints: [timeless(await leavesOf(whole))] } },
      -2,
    ),
  };
}

/** Exports whose content is valid, but of which parts are missing. */
export async function shortExports(): Promise<Record<string, ReceiptVector>> {
  const whole = await base();
  const { receipt, proof } = whole.receipts[0] ?? ({} as Line); // the export has three receipts
  const without = (change: Partial<Line>) => ({
    ...whole,
    receipts: [{ receipt, ...change }, ...whole.receipts.slice(1)],
  });
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
    'incomplete/head-of-an-earlier-end': incomplete(
      'The head statement is of an older export, and the chain went on since: it is not known how far.',
      await withHead({ lamport_clock: 1, receipt_hash: receiptHashOf(receipt) }),
      'acme/session-1: behind the head of 1, nothing says that 3 is the end',
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

/** A stolen key can sign any time into a receipt. Receipts that the log saw before the revocation are genuine. */
export async function revocations(): Promise<Record<string, ReceiptVector>> {
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

function withLine(whole: Exported, change: Partial<Line>): Exported {
  const [first, ...rest] = whole.receipts;
  return { ...whole, receipts: [{ ...first, ...change } as Line, ...rest] }; // the export has three receipts
}

async function leavesOf({ receipts, heads }: Exported): Promise<Uint8Array[]> {
  return [...receipts, ...heads.map(({ head }) => head)].map(({ receipt }) => leafOf(receipt));
}

async function hexLeaves(): Promise<Uint8Array[]> {
  return chainOf(3).receipts.map((receipt) => leafHash(nodeProvider, new TextEncoder().encode(receiptHashOf(receipt))));
}

function timeless(leaves: Uint8Array[]): string {
  const text = formatCheckpoint({ origin: logOrigin, size: leaves.length, root: rootOf(nodeProvider, leaves) });
  return signNote(nodeProvider, text, [{ name: logOrigin, signer: logSigner }]);
}

/** The note with a different time and an unchanged signature. */
function redated(note: string): string {
  return note.replace('countersign.time 2026-02-01T01', 'countersign.time 2026-02-01T02');
}
