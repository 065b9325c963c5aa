import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { findPendingByUserCode, type StoredDeviceLogin } from '../store/device-logins.ts';
import { typedUserCode } from './user-code.ts';

/**
 * The program with the code that a person typed (attacker-controlled). Throws NOT_FOUND. Throws RATE_LIMITED for an
 * address that has tried too many codes, since one guesser may use many sessions.
 */
export async function requireDeviceLogin(
  { database, codeGuesses, now }: Pick<Context, 'database' | 'codeGuesses' | 'now'>,
  { typed, address }: { typed: string; address: string },
): Promise<StoredDeviceLogin> {
  await codeGuesses.admit(address);
  const login = await findPendingByUserCode(database.reader, typedUserCode(typed), now());
  if (login === null) throw notFound();
  return login;
}
