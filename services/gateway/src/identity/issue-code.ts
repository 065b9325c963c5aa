import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { countSend, countSendsSince, findLiveCode, lockAddress, replaceLiveCode } from '../store/email-codes.ts';
import { codeLifetimeMs, emailCodeHmac, emailCodeOf, sendsPerHourMax } from './email-code.ts';

const hourMs = 3_600_000;

/**
 * The one live code of an address: who asks while one lives is sent that one, so that a stranger who asks ends nobody's. Throws
 * RATE_LIMITED after five in an hour. Looks at no user: known and unknown addresses take the same way.
 */
export async function issueCode(context: Context, email: string): Promise<string> {
  const now = context.now();
  const code = await context.transaction(async (tx) => {
    await lockAddress(tx, email);
    if ((await countSendsSince(tx, email, new Date(now.getTime() - hourMs))) >= sendsPerHourMax) return null;
    const live = await findLiveCode(tx, email);
    if (live === null || live.expiresAt <= now) return newCode(tx, context, { email, now });
    await countSend(tx, live.id);
    return emailCodeOf(context.config.sessionSecret, { codeId: live.id, email });
  });
  if (code !== null) return code;
  throw new AppError('RATE_LIMITED', 'Too many codes were requested for this address', {
    headers: { 'retry-after': String(hourMs / 1_000) },
  });
}

async function newCode(tx: Tx, { config }: Context, { email, now }: { email: string; now: Date }): Promise<string> {
  const id = newId('cod');
  const code = emailCodeOf(config.sessionSecret, { codeId: id, email });
  const codeHmac = emailCodeHmac(config.sessionSecret, { codeId: id, email, code });
  const expiresAt = new Date(now.getTime() + codeLifetimeMs);
  await replaceLiveCode(tx, { id, email, codeHmac, createdAt: now, expiresAt });
  return code;
}
