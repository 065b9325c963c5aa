import { AppError } from '@countersign/contracts';

/** So long counts a proof of presence for what a session that was left open must not do. */
const presenceSecondsMax = 300;

/** Throws REAUTHENTICATION_REQUIRED, with the challenge of RFC 9470 §3, where somebody last proved to be there too long ago. */
export function requirePresence(provenAt: Date, now: Date): void {
  if (now.getTime() - provenAt.getTime() <= presenceSecondsMax * 1_000) return;
  throw new AppError('REAUTHENTICATION_REQUIRED', 'The last proof that it is you is too old for this', {
    headers: {
      'www-authenticate': `Bearer error="insufficient_user_authentication", error_description="Prove again that it is you", max_age="${presenceSecondsMax}"`,
    },
  });
}
