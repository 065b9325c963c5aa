import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LiveCode } from '../store/email-codes.ts';

/** Short enough that an overlooked mail is harmless, long enough for a slow mail server. */
export const codeLifetimeMs = 10 * 60_000;
/** Five guesses at a million codes: one success in 200,000 per code. */
const codeTriesMax = 5;
/** Five mails per address and hour bound both the guesses and the mail that one address can be flooded with. */
export const sendsPerHourMax = 5;

/**
 * Six digits, derived from the secret and the random id of the code: they can be sent again without being stored. 64 bits of the HMAC
 * make each of the million equally likely.
 */
export function emailCodeOf(secret: string, { codeId, email }: Omit<CodeBinding, 'code'>): string {
  const mac = createHmac('sha256', secret).update(`countersign/email-code-digits/v1\n${codeId}\n${email}`).digest();
  return String(mac.readBigUInt64BE() % 1_000_000n).padStart(6, '0');
}

type CodeBinding = { codeId: string; email: string; code: string };

/** What is stored instead of the code: useless without the key, and useless for another address or another code row. */
export function emailCodeHmac(secret: string, { codeId, email, code }: CodeBinding): string {
  return createHmac('sha256', secret).update(`countersign/email-code/v1\n${codeId}\n${email}\n${code}`).digest('hex');
}

type CodeVerdict = 'accepted' | 'refused' | 'exhausted' | 'expired';

/**
 * Checks one attempt. Does the same work without a live code as with one, so that time does not tell whether an address asked
 * for a code.
 */
export function checkCode(
  live: LiveCode | null,
  attempt: { code: string; email: string; secret: string; now: Date },
): CodeVerdict {
  const { code, email, secret, now } = attempt;
  const expected = live?.codeHmac ?? '0'.repeat(64);
  const offered = emailCodeHmac(secret, { codeId: live?.id ?? 'none', email, code });
  const matches = timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(offered, 'hex'));
  if (live === null) return 'refused';
  if (live.expiresAt <= now) return 'expired';
  if (matches) return 'accepted';
  return live.tries + 1 >= codeTriesMax ? 'exhausted' : 'refused';
}
