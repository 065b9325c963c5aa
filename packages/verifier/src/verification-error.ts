export type VerificationErrorCode =
  | 'MALFORMED'
  | 'TOO_LARGE'
  | 'EMPTY'
  | 'HASH_MISMATCH'
  | 'KEY_UNKNOWN'
  | 'KEY_NOT_VALID_YET'
  | 'KEY_EXPIRED'
  | 'KEY_REVOKED'
  | 'SIGNATURE_INVALID'
  | 'DUPLICATE'
  | 'CHAIN_GAP'
  | 'CHAIN_FORK'
  | 'PREV_HASH_MISMATCH'
  | 'TIME_MISMATCH'
  | 'HEAD_MISMATCH'
  | 'RECORD_HASH_MISMATCH'
  | 'INTENT_HASH_MISMATCH'
  | 'JUDGED_HASH_MISMATCH'
  | 'ROSTER_HASH_MISMATCH'
  | 'VERDICT_MISMATCH'
  | 'LINK_MISMATCH'
  | 'SUBJECT_MISMATCH'
  | 'ASSERTION_MISMATCH'
  | 'ASSERTION_INVALID'
  | 'ASSERTION_UNDECIDED'
  | 'CHECKPOINT_INVALID'
  | 'INCLUSION_UNPROVEN'
  | 'CONSISTENCY_UNPROVEN';

/** The only error of this package: what was shown does not prove what it claims. Match on `code`. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationErrorCode;

  constructor(code: VerificationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
