import { unsupportedGrant, type ErrorEnvelope } from '@countersign/contracts';

/** The error of a route in OAuth form (RFC 6749 §5.2): what the caller must correct, or that it must retry. */
export function oauthError({ error }: ErrorEnvelope): object {
  return { error: errorOf(error), error_description: error.message };
}

function errorOf({ type, param, message, retryable }: ErrorEnvelope['error']): string {
  if (param === 'grant_type' && message.endsWith(unsupportedGrant)) return 'unsupported_grant_type';
  if (retryable) return 'temporarily_unavailable';
  return type === 'internal_error' || type === 'unavailable_error' ? 'server_error' : 'invalid_request';
}
