import { z } from 'zod';
import { SpendMicros } from '../money.ts';
import { ReasonCode } from '../reason-codes.ts';
import {
  ActionName,
  ApprovalId,
  DecisionId,
  Digest,
  EffectLevel,
  Instant,
  PrincipalId,
  ReceiptId,
  ResourceName,
  SessionId,
  TenantId,
  ToolName,
  Verdict,
} from '../scalars.ts';

export const ReceiptKind = z.enum([
  'decision',
  'outcome',
  'approval',
  /** One person approved alone although a quorum or a time lock was required. */
  'break_glass',
  'registry',
  'policy',
  'trust',
  'drift',
  'conformance',
  'heartbeat',
  /** Where a session ended when it was exported. */
  'head',
  /** The receipts of a period that the log contained at the time of the export. */
  'period',
]);
export type ReceiptKind = z.infer<typeof ReceiptKind>;

/**
 * The result of a dispatched action. `uncertain`: it was sent without an answer, or the process died before it could
 * report.
 */
export const Outcome = z.enum(['completed', 'failed', 'uncertain']);
export type Outcome = z.infer<typeof Outcome>;

/** The signed statement. All its members are signed. It contains neither the signature nor keys. */
export const ReceiptPayload = z.strictObject({
  type: z.literal('countersign.receipt.v1'),
  receipt_id: ReceiptId,
  kind: ReceiptKind,
  tenant_id: TenantId,
  principal_id: PrincipalId,
  session_id: SessionId,
  decision_id: DecisionId,
  /** Hash of the boundary record that this receipt seals. */
  record_hash: Digest,
  verdict: Verdict,
  reason_code: ReasonCode,
  action: ActionName,
  tool: ToolName.nullable(),
  resource: ResourceName.nullable(),
  effect_level: EffectLevel,
  /** The hash of the arguments, salted per tenant so that short arguments cannot be guessed. */
  args_hash: Digest,
  outcome: Outcome.optional(),
  output_hash: Digest.optional(),
  /** In millionths of a minor unit: for a decision, the maximum cost of the call. For an outcome, the counted cost. */
  spend_micros: SpendMicros.optional(),
  policy_hash: Digest.nullable(),
  policy_epoch: z.int().min(0),
  /** For an outcome: the receipt of the decision that it settles. */
  decision_receipt_id: ReceiptId.optional(),
  approval_id: ApprovalId.optional(),
  shadow: z.boolean(),
  /** Position in the chain of this tenant and session, from 1 without a gap. */
  lamport_clock: z.int().min(1),
  /** receipt_hash of the predecessor. `null` at lamport_clock 1. */
  prev_hash: Digest.nullable(),
  issued_at: Instant,
});
export type ReceiptPayload = z.infer<typeof ReceiptPayload>;

export const Signature = z.strictObject({
  alg: z.literal('Ed25519'),
  key_id: z.string().min(1).max(128),
  /** Base64url without padding, 64 bytes, over the canonical JSON (RFC 8785) of the payload. */
  value: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
});
export type Signature = z.infer<typeof Signature>;

export const SignedReceipt = z.strictObject({ payload: ReceiptPayload, signature: Signature });
export type SignedReceipt = z.infer<typeof SignedReceipt>;

/**
 * A receipt as the kernel serves it, with its hash and its position in the log. `receipt_hash` is the SHA-256 of the
 * line `countersign.receipt-hash.v1`, including its line feed, and the canonical JSON (RFC 8785) of payload and
 * signature. The same payload with another signature is another receipt.
 */
export const StoredReceipt = z.strictObject({
  payload: ReceiptPayload,
  signature: Signature,
  receipt_hash: Digest,
  log_index: z.int().min(0),
});
export type StoredReceipt = z.infer<typeof StoredReceipt>;
