import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import { countCodesSince, lockAddress, replaceLiveCode } from '../store/email-codes.ts';
import { codeLifetimeMs, codesPerHourMax, emailCodeHmac, newEmailCode } from './email-code.ts';

const hourMs = 3_600_000;

/**
 * Makes the one live code of an address. Throws RATE_LIMITED after five in an hour. Looks at no user: known and unknown
 * addresses take the same way.
 */
export async function issueCode(context: Context, email: string): Promise<string> {
  const now = context.now();
  const code = newEmailCode();
  const isIssued = await context.transaction(async (tx) => {
    await lockAddress(tx, email);
    if ((await countCodesSince(tx, email, new Date(now.getTime() - hourMs))) >= codesPerHourMax) return false;
    const id = newId('cod');
    const codeHmac = emailCodeHmac(context.config.sessionSecret, { codeId: id, email, code });
    await replaceLiveCode(tx, {
      id,
      email,
      codeHmac,
      createdAt: now,
      expiresAt: new Date(now.getTime() + codeLifetimeMs),
    });
    return true;
  });
  if (isIssued) return code;
  throw new AppError('RATE_LIMITED', 'Too many codes were requested for this address', {
    headers: { 'retry-after': String(hourMs / 1_000) },
  });
}
