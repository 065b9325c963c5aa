import { CryptoError } from '@countersign/crypto';
import { clipped } from './clipped.ts';

export const verificationErrorCodes = [
  'MALFORMED',
  'TOO_LARGE',
  'EMPTY',
  'HASH_MISMATCH',
  'KEY_UNKNOWN',
  'KEY_NOT_VALID_YET',
  'KEY_EXPIRED',
  'KEY_REVOKED',
  'TRUST_OUTDATED',
  'SIGNATURE_INVALID',
  'DUPLICATE',
  'CHAIN_GAP',
  'CHAIN_FORK',
  'PREV_HASH_MISMATCH',
  'TIME_MISMATCH',
  'HEAD_MISMATCH',
  'PERIOD_MISMATCH',
  'POLICY_MISMATCH',
  'CONTROL_CONTRADICTED',
  'RECORD_HASH_MISMATCH',
  'INTENT_HASH_MISMATCH',
  'JUDGED_HASH_MISMATCH',
  'ROSTER_HASH_MISMATCH',
  'VERDICT_MISMATCH',
  'LINK_MISMATCH',
  'SUBJECT_MISMATCH',
  'ASSERTION_MISMATCH',
  'ASSERTION_INVALID',
  'APPROVAL_CONTRADICTED',
  'CHECKPOINT_INVALID',
  'INCLUSION_UNPROVEN',
  'CONSISTENCY_UNPROVEN',
] as const;
export type VerificationErrorCode = (typeof verificationErrorCodes)[number];

/**
 * The error of this package for evidence that does not prove what it claims. Match on `code`. A long message is
 * clipped.
 */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationErrorCode;

  constructor(code: VerificationErrorCode, message: string) {
    super(clipped(message));
    this.code = code;
  }
}

/** The fault of an export's line. Rethrows errors that do not concern the line. */
export function faultOf(error: unknown): { code: VerificationErrorCode; message: string } {
  if (error instanceof VerificationError) return { code: error.code, message: error.message };
  if (error instanceof CryptoError) {
    const isLarge = error.code === 'TOO_LARGE' || error.code === 'TOO_MANY_VALUES';
    return { code: isLarge ? 'TOO_LARGE' : 'MALFORMED', message: clipped(error.message) };
  }
  throw error;
}
