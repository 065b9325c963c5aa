import { ErrorCode, errorCodes } from '../error-codes.ts';
import type { ErrorEnvelope } from '../errors.ts';
import { ScimErrorType, scimSchemas, type ScimError } from './scim.ts';

/**
 * RFC 7644 §3.12 has only the keyword `uniqueness` for 409. The refusal to remove the last owner therefore has no
 * keyword.
 */
const typeOfCode: Partial<Record<string, ScimErrorType>> = {
  ALREADY_EXISTS: 'uniqueness',
  MALFORMED_JSON: 'invalidSyntax',
  DUPLICATE_MEMBER: 'invalidSyntax',
  NESTING_TOO_DEEP: 'invalidSyntax',
  UNKNOWN_MEMBER: 'invalidSyntax',
  INVALID_REQUEST: 'invalidValue',
} satisfies Partial<Record<ErrorCode, ScimErrorType>>;

/** The error body of SCIM (RFC 7644 §3.12). Identity providers show `detail` to their administrator. */
export function scimError({ error }: ErrorEnvelope): ScimError {
  const code = ErrorCode.safeParse(error.code);
  const named = ScimErrorType.safeParse(error.details?.['scim_type']);
  const scimType = named.success ? named.data : typeOfCode[error.code];
  return {
    schemas: [scimSchemas.error],
    status: String(code.success ? errorCodes[code.data].status : 500),
    ...(scimType === undefined ? {} : { scimType }),
    detail: error.message,
  };
}
