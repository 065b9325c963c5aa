import { AppError } from '@countersign/contracts';

/** The longest age of a proof of presence for actions that an abandoned session must not take. */
const presenceSecondsMax = 300;

/** Throws REAUTHENTICATION_REQUIRED, with the challenge of RFC 9470 §3, when the last proof of presence is too old. */
export function requirePresence(provenAt: Date, now: Date): void {
  if (now.getTime() - provenAt.getTime() <= presenceSecondsMax * 1_000) return;
  throw new AppError('REAUTHENTICATION_REQUIRED', 'The last proof that it is you is too old for this', {
    headers: {
      'www-authenticate': `Bearer error="insufficient_user_authentication", error_description="Prove again that it is you", max_age="${presenceSecondsMax}"`,
    },
  });
}
