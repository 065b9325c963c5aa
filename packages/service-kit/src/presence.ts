import { AppError } from '@countersign/contracts';

/** The maximum age of a proof of presence for actions that an abandoned session must not perform. */
const presenceSecondsMax = 300;

/** Throws REAUTHENTICATION_REQUIRED, with the challenge of RFC 9470 §3, when the last proof of presence is too old. */
export function requirePresence(provenAt: Date, now: Date): void {
  if (now.getTime() - provenAt.getTime() <= presenceSecondsMax * 1_000) return;
  throw new AppError('REAUTHENTICATION_REQUIRED', 'Your last sign-in is too old for this change', {
    headers: {
      'www-authenticate': `Bearer error="insufficient_user_authentication", error_description="Sign in again", max_age="${presenceSecondsMax}"`,
    },
  });
}
