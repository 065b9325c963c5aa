import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LiveCode } from '../store/email-codes.ts';

/** Short enough that an overlooked mail is harmless, long enough for a slow mail server. */
export const codeLifetimeMs = 10 * 60_000;
/** Five guesses at a million codes: one success in 200,000 per code. */
const codeTriesMax = 5;
/** Five mails per address and hour limit both the guesses and the number of mails to one address. */
export const sendsPerHourMax = 5;

type DigitsBinding = { codeId: string; email: string; inviteId: string | null };

/**
 * Six digits, derived from the secret and the random id of the code, so a code can be sent again without being stored.
 * The 64 bits of the HMAC make each of the million codes equally likely. The code of an invite differs, so that only
 * the invited person knows it.
 */
export function emailCodeOf(secret: string, { codeId, email, inviteId }: DigitsBinding): string {
  const purpose = inviteId === null ? '' : `\n${inviteId}`;
  const text = `countersign/email-code-digits/v1\n${codeId}\n${email}${purpose}`;
  const mac = createHmac('sha256', secret).update(text).digest();
  return String(mac.readBigUInt64BE() % 1_000_000n).padStart(6, '0');
}

type CodeBinding = { codeId: string; email: string; code: string };

/** The stored hash of the code. It is useless without the key, and for any other address or row. */
export function emailCodeHmac(secret: string, { codeId, email, code }: CodeBinding): string {
  return createHmac('sha256', secret).update(`countersign/email-code/v1\n${codeId}\n${email}\n${code}`).digest('hex');
}

/** `joins`: the code is accepted, and is the code of an invite. */
type CodeVerdict = 'accepted' | 'joins' | 'refused' | 'exhausted' | 'expired';

const noHmac = '0'.repeat(64);

/**
 * Checks one attempt. It does the same work with and without a live code, so response times do not show whether an
 * address requested a code.
 */
export function checkCode(
  live: LiveCode | null,
  attempt: { code: string; email: string; secret: string; now: Date },
): CodeVerdict {
  const { code, email, secret, now } = attempt;
  const offered = Buffer.from(emailCodeHmac(secret, { codeId: live?.id ?? 'none', email, code }), 'hex');
  const matches = timingSafeEqual(Buffer.from(live?.codeHmac ?? noHmac, 'hex'), offered);
  const joins = timingSafeEqual(Buffer.from(live?.inviteCodeHmac ?? noHmac, 'hex'), offered);
  if (live === null) return 'refused';
  if (live.expiresAt <= now) return 'expired';
  if (matches) return 'accepted';
  if (joins) return 'joins';
  return live.tries + 1 >= codeTriesMax ? 'exhausted' : 'refused';
}
