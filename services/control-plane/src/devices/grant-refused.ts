import type { OAuthError } from '@countersign/contracts/control-plane';

const descriptions = {
  authorization_pending: 'The code is not confirmed yet: ask again after the interval',
  slow_down: 'Too soon: wait five seconds longer between two requests from now on',
  access_denied: 'The person has refused: start again only when they want it',
  expired_token: 'The code has expired: start again',
  invalid_grant: 'The code or token is unknown, was used, has ended, or is another client’s: start again',
} as const;

/** The errors that RFC 6749 §5.2 and RFC 8628 §3.5 answer with 400. */
export function grantRefused(error: keyof typeof descriptions): OAuthError {
  return { error, error_description: descriptions[error] };
}
