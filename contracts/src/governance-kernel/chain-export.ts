import { z } from 'zod';
import { Digest, Instant, SessionId } from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';
import { SignedReceipt } from './receipt.ts';

/** A path through the log: base64, 32 bytes each. */
export const LogPath = z.array(z.string().regex(/^[A-Za-z0-9+/]{43}=$/)).max(63);
export type LogPath = z.infer<typeof LogPath>;

/**
 * The position of one receipt in the log, with the path (RFC 9162 §2.1.3) from its leaf to the root of the checkpoint
 * of that size.
 */
export const ExportedProof = z.strictObject({
  log_index: z.int().min(0),
  tree_size: z.int().min(1),
  /** From the leaf's sibling up. */
  hashes: LogPath,
});
export type ExportedProof = z.infer<typeof ExportedProof>;

/**
 * A receipt with its record and proof. An outcome has no record of its own, since it concerns the record of its
 * decision.
 */
export const ExportedReceipt = z.strictObject({
  receipt: SignedReceipt,
  record: BoundaryRecord.optional(),
  proof: ExportedProof.optional(),
});
export type ExportedReceipt = z.infer<typeof ExportedReceipt>;

/** A C2SP signed note over the tree of a proof. */
export const CheckpointNote = z.string().min(1).max(65_536);

/**
 * The newest checkpoint, and one for each revoked key that signed an exported receipt. A checkpoint with its proof of
 * up to 63 hashes takes about 4 kB of a line of 8 MiB.
 */
export const linkedCheckpointsMax = 1_024;

/** Signed checkpoints of one log, with proofs that the log only grew. */
export const LinkedCheckpoints = z.strictObject({
  /** Smallest tree first. */
  checkpoints: z.array(CheckpointNote).max(linkedCheckpointsMax),
  /**
   * For each checkpoint except the first, the proof (RFC 9162 §2.1.4) that it extends the one before. It is empty after
   * an empty tree.
   */
  consistency: z.array(LogPath).max(linkedCheckpointsMax - 1),
});
export type LinkedCheckpoints = z.infer<typeof LinkedCheckpoints>;

/** The first line of an export. */
export const ExportHeader = z.strictObject({
  format: z.literal('countersign/chain-export.v2'),
  ...LinkedCheckpoints.shape,
});
export type ExportHeader = z.infer<typeof ExportHeader>;

/** A receipt of the kind `head`, which states the end of a session at its export. */
export const ExportedHead = z.strictObject({ head: ExportedReceipt });
export type ExportedHead = z.infer<typeof ExportedHead>;

/** The facts in the record of a head statement. */
export const HeadStatement = z.strictObject({
  session_id: SessionId,
  lamport_clock: z.int().min(1),
  receipt_hash: Digest,
  /** All receipts of the session that were sealed before this instant are at or before the position `lamport_clock`. */
  as_of: Instant,
});
export type HeadStatement = z.infer<typeof HeadStatement>;
