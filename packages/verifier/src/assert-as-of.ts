import type { OpenedLine } from './open-line.ts';
import { assertInWindow, assertNotAfter, assertNotRevoked, isLater } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Throws unless the key of a statement counted at the instant as of which it speaks, and neither the statement nor the checkpoint that has
 * it is from before that instant. The checkpoint alone is no bound: whoever has a key that has ended dates the receipt back, to a time at
 * which the key counted, and would say of today that a log holds nothing more.
 */
export function assertAsOf(asOf: string, { opened: { key, payload }, checkpoint }: OpenedLine): void {
  assertInWindow(key, asOf);
  assertNotRevoked(key, { claimed: asOf, seen: checkpoint });
  assertNotAfter(asOf, checkpoint);
  if (isLater(asOf, payload.issued_at))
    throw new VerificationError('TIME_MISMATCH', `it says what is at ${asOf}, and was issued at ${payload.issued_at}`);
}
