import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { findPendingByUserCode, type StoredDeviceLogin } from '../store/device-logins.ts';
import { typedUserCode } from './user-code.ts';

/**
 * The program whose code a person has typed (attacker-controlled). Throws NOT_FOUND, and RATE_LIMITED for an address that has tried too
 * many: many sessions behind one address are one guesser.
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
