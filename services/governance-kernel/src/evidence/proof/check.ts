import { VerificationError } from '@countersign/verifier';

/** One named step of a verification. */
export type Check = { check: string; passed: boolean; code: string | null };

/**
 * Passes when `prove` returns. A VerificationError is a failed check. Any other error is a fault of this service and
 * is rethrown.
 */
export function check(name: string, prove: () => void): Check {
  try {
    prove();
    return { check: name, passed: true, code: null };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { check: name, passed: false, code: error.code };
  }
}
