import type { OpenedLine } from './open-line.ts';
import { assertInWindow, assertNotAfter, assertNotRevoked, isLater } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Throws unless the key of a statement was valid at the instant that it states. Neither the statement nor the
 * checkpoint that contains it may be from before that instant. The checkpoint alone is no bound. The holder of an ended
 * key could date the receipt back, to a time at which the key was valid, and claim that a log holds nothing more today.
 */
export function assertAsOf(asOf: string, { opened: { key, payload }, checkpoint }: OpenedLine): void {
  assertInWindow(key, asOf);
  assertNotRevoked(key, { claimed: asOf, seen: checkpoint });
  assertNotAfter(asOf, checkpoint);
  if (isLater(asOf, payload.issued_at))
    throw new VerificationError('TIME_MISMATCH', `it says what is at ${asOf}, and was issued at ${payload.issued_at}`);
}
