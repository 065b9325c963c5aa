import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import {
  countSend,
  countSendsSince,
  findLiveCode,
  lockAddress,
  putInviteCode,
  replaceLiveCode,
} from '../store/email-codes.ts';
import { codeLifetimeMs, emailCodeHmac, emailCodeOf, sendsPerHourMax } from './email-code.ts';

const hourMs = 3_600_000;

/** `inviteId`: the invite that the code joins. `null` for a code that only signs in. */
type Input = { email: string; inviteId: string | null };

/**
 * The one live code of an address. A repeated request sends the same code, so a stranger cannot invalidate a code. A
 * code for an invite has different digits: another person may have accepted the invite, so an ordinary sign-in must not
 * join. Throws RATE_LIMITED after five codes in an hour. Reads no user, so known and unknown addresses are handled
 * alike.
 */
export async function issueCode(
  context: Pick<Context, 'config' | 'now' | 'transaction'>,
  { email, inviteId }: Input,
): Promise<string> {
  const now = context.now();
  const code = await context.transaction(async (tx) => {
    await lockAddress(tx, email);
    if ((await countSendsSince(tx, email, new Date(now.getTime() - hourMs))) >= sendsPerHourMax) return null;
    const codeId = await liveCodeId(tx, context, { email, now });
    const { sessionSecret: secret } = context.config;
    const digits = emailCodeOf(secret, { codeId, email, inviteId });
    if (inviteId !== null) {
      const inviteCodeHmac = emailCodeHmac(secret, { codeId, email, code: digits });
      await putInviteCode(tx, codeId, { inviteId, inviteCodeHmac });
    }
    return digits;
  });
  if (code !== null) return code;
  throw new AppError(
    'RATE_LIMITED',
    'Too many codes were requested for this address. Use the last one, or try again in an hour',
    {
      headers: { 'retry-after': String(hourMs / 1_000) },
    },
  );
}

/** The id of the live code or of a new one. Counts one more mail. */
async function liveCodeId(
  tx: Tx,
  { config }: Pick<Context, 'config'>,
  { email, now }: { email: string; now: Date },
): Promise<string> {
  const live = await findLiveCode(tx, email);
  if (live !== null && live.expiresAt > now) {
    await countSend(tx, live.id);
    return live.id;
  }
  const id = newId('cod');
  const code = emailCodeOf(config.sessionSecret, { codeId: id, email, inviteId: null });
  const codeHmac = emailCodeHmac(config.sessionSecret, { codeId: id, email, code });
  const expiresAt = new Date(now.getTime() + codeLifetimeMs);
  await replaceLiveCode(tx, { id, email, codeHmac, createdAt: now, expiresAt });
  return id;
}
