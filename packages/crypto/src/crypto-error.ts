type CryptoErrorCode =
  | 'MALFORMED_JSON'
  | 'INVALID_UTF8'
  | 'DUPLICATE_MEMBER'
  | 'FORBIDDEN_MEMBER'
  | 'LONE_SURROGATE'
  | 'NUMBER_OUT_OF_RANGE'
  | 'NUMBER_NOT_FINITE'
  | 'NESTING_TOO_DEEP'
  | 'TOO_LARGE'
  | 'TOO_MANY_VALUES'
  | 'NOT_PLAIN_JSON'
  | 'MALFORMED_ENCODING'
  | 'MALFORMED_KEY'
  | 'TREE_SIZE_OUT_OF_RANGE'
  | 'INCLUSION_NOT_PROVEN'
  | 'CONSISTENCY_NOT_PROVEN'
  | 'MALFORMED_NOTE'
  | 'NOTE_SIGNATURE_INVALID'
  | 'NOTE_NOT_SIGNED_BY_KNOWN_KEY'
  | 'MALFORMED_CHECKPOINT'
  | 'MALFORMED_TLOG_PROOF';

/**
 * The error that this package throws, except for submissions to a witness (`SubmissionRefused`). Match on `code`.
 * `path` is the JSON Pointer (RFC 6901) of the faulty member, if there is one.
 */
export class CryptoError extends Error {
  override readonly name = 'CryptoError';
  readonly code: CryptoErrorCode;
  readonly path: string | undefined;

  constructor(code: CryptoErrorCode, message: string, path?: string) {
    super(path === undefined || path === '' ? message : `${message} at ${path}`);
    this.code = code;
    this.path = path;
  }
}
