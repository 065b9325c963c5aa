import { AppError } from '@countersign/contracts';
import type { SignedIn } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { spendInitData } from '../store/messenger-sign-ins.ts';
import { ensureMessengerUser } from '../store/users.ts';
import { initDataLifetimeMs, readInitData } from './init-data.ts';
import { openSession } from './open-session.ts';

type Deps = Pick<Context, 'config' | 'newEvent' | 'now' | 'databaseNow' | 'transaction'>;

/**
 * Exchanges init data for a session, once. Throws CREDENTIALS_INVALID for invalid or used init data,
 * MESSENGER_NOT_CONFIGURED, and what `openSession` throws.
 */
export async function signInByInitData(
  context: Deps,
  { initData, requestId }: { initData: string; requestId: string },
): Promise<SignedIn> {
  const { messengerBotToken: botToken } = context.config;
  if (botToken === null)
    throw new AppError('MESSENGER_NOT_CONFIGURED', 'This installation has no messenger bot. Sign in by mail');
  const now = context.now();
  const vouched = readInitData(initData, { botToken, now });
  if (vouched === null) throw refused();
  const { hash, messengerId, name } = vouched;
  return context.transaction(async (tx) => {
    const expiresAt = new Date(now.getTime() + initDataLifetimeMs);
    if (!(await spendInitData(tx, { hash, expiresAt }))) throw refused();
    const user = await ensureMessengerUser(tx, { messengerId, name }, now);
    return openSession(tx, context, { user, knownAs: messengerId, inviteId: null, requestId });
  });
}

function refused(): AppError {
  return new AppError(
    'CREDENTIALS_INVALID',
    'The init data of the messenger is invalid, expired or already used. Open the app again',
  );
}
