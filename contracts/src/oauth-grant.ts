/** The error of an unknown grant type. The token endpoint answers `unsupported_grant_type` (RFC 6749 §5.2). */
export const unsupportedGrant = 'is not a grant type that this server supports';
