import type { OAuthError } from '@countersign/contracts/control-plane';

const descriptions = {
  authorization_pending: 'Nobody has confirmed the code yet: ask again after the interval',
  slow_down: 'Too soon: wait five seconds longer between two questions from now on',
  access_denied: 'The person has refused: begin anew only when they want it',
  expired_token: 'The code has run out: begin anew',
  invalid_grant: 'The code or token is unknown, was used, or is another client’s: begin anew',
} as const;

/** What RFC 6749 §5.2 and RFC 8628 §3.5 answer with 400. */
export function grantRefused(error: keyof typeof descriptions): OAuthError {
  return { error, error_description: descriptions[error] };
}
