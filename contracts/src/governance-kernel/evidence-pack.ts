import { z } from 'zod';
import { Digest, Instant, PlainObject, SessionId, TenantId } from '../scalars.ts';
import { CheckpointNote, ExportedProof, ExportedReceipt, LinkedCheckpoints, LogPath } from './chain-export.ts';
import { TrustKey } from './log.ts';
import { Signature } from './receipt.ts';

export const evidencePackFormat = 'countersign/evidence-pack.v1';

/** The most sessions in the scope of one pack. Longer lists need several packs. */
export const packSessionsMax = 64;

/**
 * The scope of a pack: all receipts of the tenant with `from` ≤ `log_index` < `to`. `sessions` and `issued` narrow it
 * unless they are `null`. Adjoining ranges have no leaf between them.
 */
export const EvidenceScope = z.strictObject({
  tenant_id: TenantId,
  leaves: z.strictObject({ from: z.int().min(0), to: z.int().min(0) }),
  sessions: z.array(SessionId).min(1).max(packSessionsMax).nullable(),
  /** `from` is inclusive, `to` exclusive. */
  issued: z.strictObject({ from: Instant, to: Instant }).nullable(),
});
export type EvidenceScope = z.infer<typeof EvidenceScope>;

/** The first line. Its keys are informative. A verifier trusts only the keys that its caller names. */
export const PackHeader = z.strictObject({
  format: z.literal(evidencePackFormat),
  scope: EvidenceScope,
  /** The name of the log, as in each checkpoint. */
  log_origin: z.string().min(1).max(255),
  keys: z.array(TrustKey).max(1_024),
  ...LinkedCheckpoints.shape,
});
export type PackHeader = z.infer<typeof PackHeader>;

/** A policy, on the line before the first receipt that names it. The signature is that of its activation. */
export const PackPolicy = z.strictObject({
  policy: z.strictObject({
    /** The tenant that the policy was activated for, or `*`. */
    tenant_id: z.string().min(1).max(128),
    epoch: z.int().min(1),
    policy_hash: Digest,
    confirmed_at: Instant,
    signature: Signature,
    /** The bundle with its defaults. `policy_hash` is the hash of its canonical JSON. */
    bundle: PlainObject,
  }),
});
export type PackPolicy = z.infer<typeof PackPolicy>;

/** A receipt. All receipts of a pack are in the order of the log. */
export const PackReceipt = z.strictObject({ ...ExportedReceipt.shape, proof: ExportedProof });
export type PackReceipt = z.infer<typeof PackReceipt>;

/** The last line: a receipt of the kind `period`, and the checkpoint of the tree of its proof. */
export const PackEnd = z.strictObject({ end: PackReceipt, checkpoint: CheckpointNote, consistency: LogPath });
export type PackEnd = z.infer<typeof PackEnd>;

export const PackCounts = z.strictObject({
  receipts: z.int().min(0),
  records: z.int().min(0),
  policies: z.int().min(0),
  sessions: z.int().min(0),
  /** Root (RFC 9162 §2.1.1) over the sessions, in the order of their first receipts. */
  sessions_root: Digest,
  /** Allowed calls that the kernel dispatched, without an outcome in the pack. */
  open_calls: z.int().min(0),
  /** Approving votes that the operator key cast without a credential of a person. */
  unbacked_votes: z.int().min(0),
  /** The hash over all lines before the last one. */
  lines_hash: Digest,
});
export type PackCounts = z.infer<typeof PackCounts>;

/** The facts of the end statement. They contain no time of the export, so the same scope has the same statement. */
export const PackStatement = z.strictObject({
  format: z.literal(evidencePackFormat),
  scope: EvidenceScope,
  ...PackCounts.shape,
  /** The size of the tree that the statement covers. */
  log_size: z.int().min(0),
  /** The root of that tree. */
  log_root: Digest,
});
export type PackStatement = z.infer<typeof PackStatement>;

/** The action of an end statement. */
export const packAction = 'evidence.export';

export const PackLine = z.union([PackHeader, PackPolicy, PackReceipt, PackEnd]);
export type PackLine = z.infer<typeof PackLine>;
