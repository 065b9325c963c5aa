import { z } from 'zod';
import { ApprovalState } from '../governance-kernel/approvals.ts';
import { TrustKey } from '../governance-kernel/log.ts';
import { Outcome, ReceiptKind } from '../governance-kernel/receipt.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { ApprovalId, Digest, Instant, ReceiptId, Verdict } from '../scalars.ts';

/** More hashes than a proof in a log of 2^48 receipts has. */
const proofHashesMax = 64;
const noteLengthMax = 10_000;

/** The proof that a receipt is in the signed log: a checkpoint and the path from the receipt to it. */
export const PublicLogProof = z.strictObject({
  index: z.int().min(0),
  tree_size: z.int().min(1),
  /** Base64, from the leaf's sibling up (RFC 9162 §2.1.3). */
  hashes: z.array(z.string().max(64)).max(proofHashesMax),
  /** The checkpoint as a signed note (C2SP). */
  note: z.string().max(noteLengthMax),
});
export type PublicLogProof = z.infer<typeof PublicLogProof>;

/** The public members of a published receipt. It names neither the caller nor the object nor the arguments. */
export const PublicReceipt = z.strictObject({
  receipt_id: ReceiptId,
  kind: ReceiptKind,
  /** For an outcome, the result of the call. For any other receipt, the fact that it was sealed. */
  status: z.enum(['sealed', ...Outcome.options]),
  verdict: Verdict,
  reason_code: ReasonCode,
  /** Rounded down to the minute. */
  issued_at: Instant,
  receipt_hash: Digest,
  prev_hash: Digest.nullable(),
  lamport_clock: z.int().min(1),
  policy_hash: Digest.nullable(),
  policy_epoch: z.int().min(0),
  key_id: z.string().min(1).max(128),
  log: PublicLogProof,
});
export type PublicReceipt = z.infer<typeof PublicReceipt>;

/** The public members of a published approval, as of its publication. Times are rounded down to the minute. */
export const PublicApproval = z.strictObject({
  approval_id: ApprovalId,
  state: ApprovalState,
  quorum: z.int().min(1),
  /** How many people approved. */
  approved: z.int().min(0),
  /** `break_glass`: one person approved alone although a quorum or a time lock was required. */
  method: z.enum(['votes', 'break_glass']),
  requested_at: Instant,
  updated_at: Instant,
  published_at: Instant,
  ceremony_hash: Digest,
});
export type PublicApproval = z.infer<typeof PublicApproval>;

/** Accepts any text, so that an impossible name gets the same 404 as a name that is not published. */
const PublicName = z.string().min(1).max(128);

const read = { method: 'GET', auth: 'public', errors: ['NOT_FOUND'] } as const;

export const getPublicReceipt = defineRoute({
  ...read,
  errors: [...read.errors],
  operation: 'get-public-receipt',
  summary: 'Get the public part of a receipt, by its id or by the handle that published it.',
  path: '/api/public/verify/{receiptId}',
  forward: {},
  params: z.strictObject({ receiptId: PublicName }),
  reply: PublicReceipt,
});

export const getPublicApproval = defineRoute({
  ...read,
  errors: [...read.errors],
  operation: 'get-public-approval',
  summary: 'Get the public part of an approval, by its id or by the handle that published it.',
  path: '/api/public/approval/{approvalId}',
  forward: {},
  params: z.strictObject({ approvalId: PublicName }),
  reply: PublicApproval,
});

export const getSigningKey = defineRoute({
  operation: 'get-signing-key',
  summary: "Get the public keys of this installation's receipts and log, as a JWK set.",
  method: 'GET',
  path: '/api/v1/signing-key',
  auth: 'public',
  forward: {},
  reply: z.strictObject({ keys: z.array(TrustKey) }),
  errors: ['GOVERNANCE_UNAVAILABLE'],
});
