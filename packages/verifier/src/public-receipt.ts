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

/** The public members of a receipt, and nothing else: the members are named one by one. */
export function publicReceiptOf({ payload, receipt_hash, key_id }: Opened, log: PublicLogProof): PublicReceipt {
  const { receipt_id, kind, verdict, reason_code, prev_hash, lamport_clock, policy_hash, policy_epoch } = payload;
  return PublicReceipt.parse({
    ...{ receipt_id, kind, status: statusOf(payload), verdict, reason_code },
    issued_at: toTheMinute(payload.issued_at),
    ...{ receipt_hash, prev_hash, lamport_clock, policy_hash, policy_epoch, key_id, log },
  });
}

/** A time that says no more than its minute. */
export function toTheMinute(instant: string): Instant {
  return Instant.parse(new Date(Math.floor(Date.parse(instant) / minuteMs) * minuteMs).toISOString());
}

/**
 * Returns the checkpoint only if it is signed by a trusted key and holds the receipt's hash. The other members are
 * claims of the publisher: only the original proves them. Throws {@link VerificationError}: those of
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
 * Returns only if the receipt is the one that was published, verifies, and says everything that is told of it. Throws
 * {@link VerificationError}: those of `verifyInclusion`, `HASH_MISMATCH` for another receipt, `SUBJECT_MISMATCH` naming what is told otherwise.
 */
export function verifyOriginal(receipt: unknown, statement: unknown, claim: LogTrust): void {
  const told = parseUntrusted(PublicReceipt, statement, 'public receipt');
  const { payload, receipt_hash, key } = openReceipt(receipt, claim.trust, claim.provider);
  if (receipt_hash !== told.receipt_hash)
    throw new VerificationError('HASH_MISMATCH', 'this is a receipt, and not the one that was published');
  verifyInclusion({ receipt, proof: proofOf(told.log), checkpoint: told.log.note, ...claim });
  const made: Record<string, unknown> = publicReceiptOf({ payload, receipt_hash, key_id: key.key_id }, told.log);
  const differing = Object.entries(told).find(([name, value]) => name !== 'log' && made[name] !== value);
  if (differing !== undefined)
    throw new VerificationError('SUBJECT_MISMATCH', `the page says another ${differing[0]} than the receipt`);
}

function proofOf({ index, tree_size, hashes }: PublicLogProof) {
  return { log_index: index, tree_size, hashes };
}

function statusOf({ outcome }: ReceiptPayload): Outcome | 'sealed' {
  return outcome ?? 'sealed';
}
