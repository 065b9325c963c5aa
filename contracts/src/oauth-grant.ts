/** The fault of a grant type that a token endpoint does not have; its answer is `unsupported_grant_type` (RFC 6749 §5.2). */
export const unsupportedGrant = 'is not a grant of this server';
