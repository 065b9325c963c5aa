import { AppError } from '@countersign/contracts';
import type { TrustedKeys } from '@countersign/verifier';
import { parseKeySet, VerificationError } from '@countersign/verifier';

/** The keys that a caller trusts. Throws INVALID_REQUEST for an invalid set. */
export function namedKeys(keys: readonly unknown[]): TrustedKeys {
  try {
    return parseKeySet({ keys });
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new AppError('INVALID_REQUEST', error.message, { param: 'keys' });
  }
}
