import { verify } from 'node:crypto';
import { need, present } from './fault.ts';
import { fromBase64, isInstant, laterBy, minuteMs, sha256 } from './forms.ts';
import { assertInWindow, type Key } from './keys.ts';
import { isExtension, leafOf, rootFromLeaf } from './merkle-tree.ts';
import { receiptHash } from './receipt.ts';
import type { Entry, Proof } from './statements.ts';

export type Checkpoint = { origin: string; size: number; root: Buffer; time: string; key: Key };

const pathOf = (hashes: string[]) => hashes.map((hash) => fromBase64(hash) ?? Buffer.alloc(0));

/** Reads a signed note (9.2). Throws `CHECKPOINT_INVALID`, `KEY_UNKNOWN`, or the code of an ended key (8.2, 8.4). */
export function readCheckpoint(note: string, keys: Key[]): Checkpoint {
  const code = 'CHECKPOINT_INVALID';
  const isKnown = keys.some((key) => key.purpose === 'log' && key.origin === note.split('\n', 1)[0]);
  need(isKnown, 'KEY_UNKNOWN', '9.2');
  const border = note.lastIndexOf('\n\n');
  const text = note.slice(0, border + 1);
  const signatures = note.slice(border + 2);
  need(border > 0 && signatures.endsWith('\n'), code, '9.2');
  const [origin = '', size = '', root = '', extension = '', ...more] = text.slice(0, -1).split('\n');
  const rootBytes = present(fromBase64(root), code, '9.2');
  const time = /^countersign\.time (.*)$/.exec(extension)?.[1];
  need(origin !== '' && more.length === 0 && rootBytes.length === 32 && isInstant(time), code, '9.2');
  need(/^(?:0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size)), code, '9.2');
  const key = signerOf({ text, origin, signatures: signatures.slice(0, -1).split('\n') }, keys);
  need(key.revokedAt === null, 'KEY_REVOKED', '8.4');
  assertInWindow(key, time);
  return { origin, size: Number(size), root: rootBytes, time, key };
}

type Note = { text: string; origin: string; signatures: string[] };

function signerOf({ text, origin, signatures }: Note, keys: Key[]): Key {
  const code = 'CHECKPOINT_INVALID';
  const signers = signatures.flatMap((line) => {
    const [, name, value] = /^\u2014 ([^\s+]+) (\S+)$/.exec(line) ?? [];
    const bytes = present(fromBase64(value), code, '9.2');
    need(bytes.length > 4, code, '9.2');
    const named = keys.filter((key) => name === origin && isNoteKey(key, origin, bytes.subarray(0, 4)));
    for (const { publicKey } of named)
      need(bytes.length === 68 && verify(null, Buffer.from(text), publicKey, bytes.subarray(4)), code, '9.2');
    return named;
  });
  return present(signers[0], 'KEY_UNKNOWN', '9.2');
}

/** Whether the key has this C2SP key id for Ed25519. */
function isNoteKey(key: Key, origin: string, id: Buffer): boolean {
  if (key.purpose !== 'log' || key.origin !== origin) return false;
  return sha256(origin, '\n', Buffer.of(1), key.raw).subarray(0, 4).equals(id);
}

/** Throws unless the later checkpoint extends the earlier one (9.4, 9.5). */
export function assertExtends(earlier: Checkpoint, later: Checkpoint, path: string[]): void {
  need(earlier.origin === later.origin, 'CONSISTENCY_UNPROVEN', '9.4');
  need(isExtension(earlier, later, pathOf(path)), 'CONSISTENCY_UNPROVEN', '9.4');
  need(earlier.time <= later.time, 'TIME_MISMATCH', '9.5');
}

/** Reads the checkpoints of a header. Each must extend the one before (9.4). */
export function readCheckpoints(notes: string[], consistency: string[][], keys: Key[]): Checkpoint[] {
  const checkpoints = notes.map((note) => readCheckpoint(note, keys));
  need(consistency.length === Math.max(0, notes.length - 1), 'CONSISTENCY_UNPROVEN', '9.4');
  const [first] = checkpoints;
  if (first?.size === 0) need(first.root.equals(sha256('')), 'CONSISTENCY_UNPROVEN', '9.4');
  checkpoints.slice(1).forEach((later, index) => {
    const earlier = present(checkpoints[index], 'CONSISTENCY_UNPROVEN', '9.4');
    need(earlier.size !== later.size, 'DUPLICATE', '9.4');
    assertExtends(earlier, later, consistency[index] ?? []);
  });
  return checkpoints;
}

/**
 * Throws unless a receipt is in the log, at a time that the checkpoints allow. A receipt without a proof must not have
 * a revoked key.
 */
export function assertLogged({ receipt, proof }: Entry, key: Key, checkpoints: Checkpoint[]): void {
  if (proof === undefined) return need(key.revokedAt === null, 'KEY_REVOKED', '8.3');
  const own = present(
    checkpoints.find(({ size }) => size === proof.tree_size),
    'INCLUSION_UNPROVEN',
    '9.3',
  );
  const leaf = leafOf(Buffer.from(receiptHash(receipt).slice('sha256:'.length), 'hex')); // 9.1
  const root = rootFromLeaf(leaf, pathOf(proof.hashes), { index: proof.log_index, size: proof.tree_size });
  need(root?.equals(own.root) === true, 'INCLUSION_UNPROVEN', '9.3');
  assertSeenBeforeRevocation(key, proof, checkpoints);
  assertBeforeCheckpoint(receipt.payload.issued_at, proof, checkpoints);
  for (const { size, time } of checkpoints)
    // 9.7
    if (size <= proof.log_index) need(receipt.payload.issued_at >= laterBy(time, -minuteMs), 'TIME_MISMATCH', '9.7');
}

/** Throws for a revoked key, unless a checkpoint from before the revocation contains the statement (8.3). */
export function assertSeenBeforeRevocation(
  { revokedAt }: Key,
  proof: Proof | undefined,
  checkpoints: Checkpoint[],
): void {
  if (revokedAt === null) return;
  const isSeen = checkpoints.some(({ size, time, key: { validUntil } }) => {
    const outlives = validUntil === null || validUntil > revokedAt;
    return proof !== undefined && size > proof.log_index && time < revokedAt && outlives;
  });
  need(isSeen, 'KEY_REVOKED', '8.3');
}

/** Throws for a time more than a minute after a checkpoint that contains the receipt (9.6). */
export function assertBeforeCheckpoint(stated: string, { log_index }: Proof, checkpoints: Checkpoint[]): void {
  const seen = checkpoints.filter(({ size }) => size > log_index);
  for (const { time } of seen) need(stated <= laterBy(time, minuteMs), 'TIME_MISMATCH', '9.6');
}
