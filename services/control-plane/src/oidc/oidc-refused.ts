import { AppError } from '@countersign/contracts';

/** One answer for whatever was wrong with a login or with what came back for it. */
export function oidcRefused(): AppError {
  return new AppError('OIDC_REFUSED', 'This is no answer to a sign-in that began in this browser');
}
