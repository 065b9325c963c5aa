import { AppError } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { parseLogPolicy, VerificationError, type LogPolicy } from '@countersign/verifier';

/** The witnesses that a caller trusts. Throws INVALID_REQUEST for a text that is not a tlog-policy. */
export function namedWitnesses(text: string, provider: CryptoProvider): LogPolicy {
  try {
    return parseLogPolicy(text, provider);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new AppError('INVALID_REQUEST', error.message, { param: 'witness_policy' });
  }
}
