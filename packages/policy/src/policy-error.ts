type PolicyErrorCode =
  | 'MALFORMED_BUNDLE'
  | 'UNKNOWN_MEMBER'
  | 'TOO_LARGE'
  | 'YAML_REFUSED'
  | 'DUPLICATE_RULE_ID'
  | 'DUPLICATE_TEST'
  | 'EXPRESSION_INVALID'
  | 'EXPRESSION_NOT_BOOLEAN'
  | 'VARIABLE_UNKNOWN'
  | 'FUNCTION_REFUSED'
  | 'REGEXP_REFUSED'
  | 'NESTING_REFUSED'
  | 'RELATION_INVALID'
  | 'TEST_FAILED'
  | 'RECORD_NOT_REPLAYABLE';

/**
 * The only error of the parser and the compiler. Match on `code`; `path` is a JSON Pointer (RFC 6901) into the bundle.
 */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly code: PolicyErrorCode;
  readonly path: string;

  constructor(code: PolicyErrorCode, path: string, message: string) {
    super(path === '' ? message : `${message} at ${path}`);
    this.code = code;
    this.path = path;
  }
}
