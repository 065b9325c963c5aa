import { AppError } from '@countersign/contracts';

/**
 * The same error for a login that is unknown, used, expired or begun in another browser, and for an address that may
 * not link.
 */
export function oidcRefused(): AppError {
  return new AppError('OIDC_REFUSED', 'This browser did not begin this sign-in. Begin the sign-in again');
}
