import { PublicReceipt, type PublicLogProof } from '@countersign/contracts/control-plane';
import type { Outcome, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { Instant } from '@countersign/contracts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertNotAfter } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import {
  assertIncluded,
  verifyCheckpoint,
  verifyInclusion,
  type LogTrust,
  type TimedCheckpoint,
} from './verify-log.ts';
import { openReceipt } from './verify-receipt.ts';

type Opened = { payload: ReceiptPayload; receipt_hash: string; key_id: string };

const minuteMs = 60_000;

/** The public members of a receipt. They are listed one by one, so no other member is included. */
export function publicReceiptOf({ payload, receipt_hash, key_id }: Opened, log: PublicLogProof): PublicReceipt {
  const { receipt_id, kind, verdict, reason_code, prev_hash, lamport_clock, policy_hash, policy_epoch } = payload;
  return PublicReceipt.parse({
    ...{ receipt_id, kind, status: statusOf(payload), verdict, reason_code },
    issued_at: toTheMinute(payload.issued_at),
    ...{ receipt_hash, prev_hash, lamport_clock, policy_hash, policy_epoch, key_id, log },
  });
}

/** A time rounded down to its minute. */
export function toTheMinute(instant: string): Instant {
  return Instant.parse(new Date(Math.floor(Date.parse(instant) / minuteMs) * minuteMs).toISOString());
}

/**
 * Returns the checkpoint only if it is signed by a trusted key and contains the receipt's hash. The other members are
 * claims of the publisher, which only the original receipt proves. Throws {@link VerificationError}: those of
 * `verifyCheckpoint`, `INCLUSION_UNPROVEN`, `TIME_MISMATCH`.
 */
export function verifyPublicReceipt(statement: unknown, trust: LogTrust): TimedCheckpoint {
  const { receipt_hash, issued_at, log } = parseUntrusted(PublicReceipt, statement, 'public receipt');
  const checkpoint = verifyCheckpoint(log.note, trust);
  assertIncluded({ receipt_hash, proof: proofOf(log), checkpoint, provider: trust.provider });
  assertNotAfter(issued_at, checkpoint);
  return checkpoint;
}

/**
 * Returns only if the receipt is the published one, verifies, and agrees with all published members. Throws {@link
 * VerificationError}: those of `verifyInclusion`, `HASH_MISMATCH` for another receipt, `SUBJECT_MISMATCH` with the
 * differing member.
 */
export function verifyOriginal(receipt: unknown, statement: unknown, claim: LogTrust): void {
  const report = parseUntrusted(PublicReceipt, statement, 'public receipt');
  const { payload, receipt_hash, key } = openReceipt(receipt, claim.trust, claim.provider);
  if (receipt_hash !== report.receipt_hash)
    throw new VerificationError('HASH_MISMATCH', 'the receipt differs from the published receipt');
  verifyInclusion({ receipt, proof: proofOf(report.log), checkpoint: report.log.note, ...claim });
  const made: Record<string, unknown> = publicReceiptOf({ payload, receipt_hash, key_id: key.key_id }, report.log);
  const differing = Object.entries(report).find(([name, value]) => name !== 'log' && made[name] !== value);
  if (differing !== undefined)
    throw new VerificationError('SUBJECT_MISMATCH', `the published receipt and this receipt differ in ${differing[0]}`);
}

function proofOf({ index, tree_size, hashes }: PublicLogProof) {
  return { log_index: index, tree_size, hashes };
}

function statusOf({ outcome }: ReceiptPayload): Outcome | 'sealed' {
  return outcome ?? 'sealed';
}
