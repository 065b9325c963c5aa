import { z } from 'zod';
import { Digest, Instant, PlainObject, SessionId, TenantId } from '../scalars.ts';
import { CheckpointNote, ExportedProof, ExportedReceipt, LinkedCheckpoints, LogPath } from './chain-export.ts';
import { TrustKey } from './log.ts';
import { Signature } from './receipt.ts';

export const evidencePackFormat = 'countersign/evidence-pack.v1';

/** A list of runs or conversations. Longer lists are several packs. */
export const packSessionsMax = 64;

/**
 * The content of a pack: each receipt of the tenant at a place `from` ≤ `log_index` < `to` of the log. `sessions` and
 * `issued` narrow that; `null` does not. Packs of adjoining leaf ranges leave no gap.
 */
export const EvidenceScope = z.strictObject({
  tenant_id: TenantId,
  leaves: z.strictObject({ from: z.int().min(0), to: z.int().min(0) }),
  sessions: z.array(SessionId).min(1).max(packSessionsMax).nullable(),
  /** `from` is inclusive, `to` exclusive. */
  issued: z.strictObject({ from: Instant, to: Instant }).nullable(),
});
export type EvidenceScope = z.infer<typeof EvidenceScope>;

/** The first line. Its keys are information: a verifier trusts the keys that its caller names. */
export const PackHeader = z.strictObject({
  format: z.literal(evidencePackFormat),
  scope: EvidenceScope,
  /** Name of the log. Each checkpoint has it too. */
  log_origin: z.string().min(1).max(255),
  keys: z.array(TrustKey).max(1_024),
  ...LinkedCheckpoints.shape,
});
export type PackHeader = z.infer<typeof PackHeader>;

/** A policy, on the line before the first receipt that names it. The signature is that of its activation. */
export const PackPolicy = z.strictObject({
  policy: z.strictObject({
    /** The tenant that it was activated for, or `*`. */
    tenant_id: z.string().min(1).max(128),
    epoch: z.int().min(1),
    policy_hash: Digest,
    confirmed_at: Instant,
    signature: Signature,
    /** With its defaults: `policy_hash` is the hash of its canonical JSON. */
    bundle: PlainObject,
  }),
});
export type PackPolicy = z.infer<typeof PackPolicy>;

/** A receipt. All receipts of a pack are in the order of the log. */
export const PackReceipt = z.strictObject({ ...ExportedReceipt.shape, proof: ExportedProof });
export type PackReceipt = z.infer<typeof PackReceipt>;

/** The last line: a receipt of the kind `period`, and the checkpoint of the tree that its proof leads to. */
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
  /** Approving votes without a credential of a person: the key of the operators gave them. */
  unbacked_votes: z.int().min(0),
  /** Over all lines before the last one. */
  lines_hash: Digest,
});
export type PackCounts = z.infer<typeof PackCounts>;

/** The facts of the end statement. They contain no time of the export, so the same scope has the same statement. */
export const PackStatement = z.strictObject({
  format: z.literal(evidencePackFormat),
  scope: EvidenceScope,
  ...PackCounts.shape,
  /** Size and root of the tree that the statement is about. */
  log_size: z.int().min(0),
  log_root: Digest,
});
export type PackStatement = z.infer<typeof PackStatement>;

/** The action of an end statement. */
export const packAction = 'evidence.export';

export const PackLine = z.union([PackHeader, PackPolicy, PackReceipt, PackEnd]);
export type PackLine = z.infer<typeof PackLine>;
