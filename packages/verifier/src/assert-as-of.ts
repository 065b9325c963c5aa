import type { OpenedLine } from './open-line.ts';
import { assertInWindow, assertNotAfter, assertNotRevoked, isLater } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Throws unless the key of a statement was valid at the instant that the statement states. Neither the statement nor
 * the checkpoint that contains it may be more than a minute older than that instant. The checkpoint alone is not
 * enough. The holder of an expired key could date the receipt back to a time at which the key was valid. That receipt
 * could claim that a log has no later entries today.
 */
export function assertAsOf(asOf: string, { opened: { key, payload }, checkpoint, earliest }: OpenedLine): void {
  assertInWindow(key, asOf);
  assertNotRevoked(key, { claimed: asOf, seen: checkpoint });
  assertNotAfter(asOf, earliest);
  if (isLater(asOf, payload.issued_at))
    throw new VerificationError(
      'TIME_MISMATCH',
      `the statement is about ${asOf}, but was issued at ${payload.issued_at}`,
    );
}
