import { Instant } from '@countersign/contracts';
import * as merkle from '@countersign/crypto';
import type { Checkpoint, CryptoProvider } from '@countersign/crypto';
import { receiptLeaf } from '@countersign/receipts';
import { assertInWindow, assertNotAfter, assertNotRevoked, publicKeyBytes } from './trusted-keys.ts';
import type { TrustedKey, TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { openReceipt, type VerifiedReceipt } from './verify-receipt.ts';

export type LogTrust = {
  trust: TrustedKeys;
  provider: CryptoProvider;
  /** Origin line of the expected log. Without it, any log of a trusted key is accepted. */
  origin?: string | undefined;
};

/** A head of a log, with its time and its key. */
export type TimedCheckpoint = Checkpoint & { time: string; key: TrustedKey };

/** `hashes` are base64, from the leaf's sibling up. */
type InclusionEvidence = { log_index: number; tree_size: number; hashes: readonly string[] };

/**
 * Opens a checkpoint (C2SP tlog-checkpoint in a signed note) of a log whose key is trusted for its origin line. Throws
 * {@link VerificationError} `CHECKPOINT_INVALID`, `KEY_UNKNOWN`, `KEY_NOT_VALID_YET`, `KEY_EXPIRED`, `KEY_REVOKED`. No
 * witness proves the time of a log key's signature, so a revoked key is never accepted.
 */
export function verifyCheckpoint(note: string, { trust, provider, origin }: LogTrust): TimedCheckpoint {
  const name = note.split('\n', 1)[0] ?? '';
  if (origin !== undefined && name !== origin)
    throw new VerificationError('CHECKPOINT_INVALID', `the checkpoint belongs to the log ${name}`);
  const { text, key } = openBy(note, keysOfLog(trust, name), provider);
  const checkpoint = guarded('CHECKPOINT_INVALID', () => merkle.parseCheckpoint(text));
  const time = Instant.safeParse(checkpoint.time);
  if (!time.success) throw new VerificationError('CHECKPOINT_INVALID', 'the checkpoint has no valid time');
  assertInWindow(key, time.data);
  assertNotRevoked(key, { claimed: time.data, seen: null });
  return { ...checkpoint, time: time.data, key };
}

/**
 * Returns only if the receipt verifies and is a leaf of the tree that the checkpoint signs. The entry of the leaf is
 * the 32 bytes of the receipt hash (RFC 9162 §2.1.1). For a revoked key, the checkpoint must be from before the
 * revocation and of another key. Throws {@link VerificationError}: those of `verifyReceipt` and `verifyCheckpoint`,
 * `INCLUSION_UNPROVEN`, `TIME_MISMATCH`.
 */
export function verifyInclusion(
  claim: { receipt: unknown; proof: InclusionEvidence; checkpoint: string } & LogTrust,
): VerifiedReceipt {
  const { receipt, proof, checkpoint, trust, provider } = claim;
  const { payload, receipt_hash, key } = openReceipt(receipt, trust, provider);
  const opened = verifyCheckpoint(checkpoint, claim);
  assertIncluded({ receipt_hash, proof, checkpoint: opened, provider });
  assertNotRevoked(key, { claimed: payload.issued_at, seen: opened });
  assertNotAfter(payload.issued_at, opened);
  return { payload, receipt_hash, key_id: key.key_id };
}

/** Returns only if the receipt is a leaf of the tree of a verified checkpoint. Throws `INCLUSION_UNPROVEN`. */
export function assertIncluded(claim: {
  receipt_hash: string;
  proof: InclusionEvidence;
  checkpoint: Checkpoint;
  provider: CryptoProvider;
  /** The paths of earlier receipts, if any. */
  paths?: merkle.InclusionPaths | undefined;
}): void {
  const { receipt_hash, proof, checkpoint, provider } = claim;
  const paths = claim.paths ?? new merkle.InclusionPaths(provider);
  if (proof.tree_size !== checkpoint.size)
    throw new VerificationError('INCLUSION_UNPROVEN', 'the tree sizes of the proof and the checkpoint differ');
  guarded('INCLUSION_UNPROVEN', () => {
    paths.verify({
      index: proof.log_index,
      size: checkpoint.size,
      leafHash: receiptLeaf(provider, receipt_hash),
      proof: proof.hashes,
      root: checkpoint.root,
    });
  });
}

/**
 * Returns only if the log of `to` extends that of `from` (RFC 9162 §2.1.4). Throws like `verifyCheckpoint`, and
 * `CONSISTENCY_UNPROVEN`.
 */
export function verifyConsistency(claim: { from: string; to: string; hashes: readonly string[] } & LogTrust): void {
  const from = verifyCheckpoint(claim.from, claim);
  const to = verifyCheckpoint(claim.to, claim);
  assertConsistent({ from, to, hashes: claim.hashes, provider: claim.provider });
}

/** Like `verifyConsistency`, for verified checkpoints. Throws `CONSISTENCY_UNPROVEN`. */
export function assertConsistent(claim: {
  from: Checkpoint;
  to: Checkpoint;
  hashes: readonly string[];
  provider: CryptoProvider;
}): void {
  const { from, to, hashes, provider } = claim;
  if (from.origin !== to.origin)
    throw new VerificationError('CONSISTENCY_UNPROVEN', 'the checkpoints belong to different logs');
  guarded('CONSISTENCY_UNPROVEN', () => {
    const proof = hashes.map(merkle.decodeBase64);
    merkle.verifyConsistency(provider, { from: from.size, to: to.size, fromRoot: from.root, toRoot: to.root, proof });
  });
}

function keysOfLog(trust: TrustedKeys, origin: string): TrustedKey[] {
  const keys = trust.filter(({ purpose, log_origin }) => purpose === 'log' && log_origin === origin);
  if (keys.length === 0) throw new VerificationError('KEY_UNKNOWN', `no key of the log ${origin} is trusted`);
  return keys;
}

function openBy(note: string, keys: TrustedKey[], provider: CryptoProvider): { text: string; key: TrustedKey } {
  const named = keys.map((key) => ({ key, note: guarded('MALFORMED', () => noteKeyOf(key, provider)) }));
  try {
    const { text, signedBy } = merkle.openNote(
      provider,
      note,
      named.map((candidate) => candidate.note),
    );
    const signer = named.find((candidate) => signedBy.includes(candidate.note));
    // Stryker disable next-line ConditionalExpression: `openNote` uses only the keys that were passed to it.
    if (signer === undefined) throw new Error('openNote returned a key that was not passed to it');
    return { text, key: signer.key };
  } catch (error) {
    const isUnknown = error instanceof merkle.CryptoError && error.code === 'NOTE_NOT_SIGNED_BY_KNOWN_KEY';
    const message = error instanceof Error ? error.message : 'not a note';
    throw new VerificationError(isUnknown ? 'KEY_UNKNOWN' : 'CHECKPOINT_INVALID', `checkpoint: ${message}`);
  }
}

function noteKeyOf(key: TrustedKey, provider: CryptoProvider) {
  return merkle.noteKey(provider, key.log_origin ?? '', publicKeyBytes(key));
}

function guarded<Value>(code: VerificationError['code'], verify: () => Value): Value {
  try {
    return verify();
  } catch (error) {
    throw new VerificationError(code, error instanceof Error ? error.message : 'not proven');
  }
}
