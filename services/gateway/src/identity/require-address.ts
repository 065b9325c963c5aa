import { UserId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { findUser } from '../store/users.ts';

/**
 * The person of an id that a caller sent, with the address that codes go to. Throws NOT_FOUND for an unknown id, and
 * for a person who signs in by messenger only.
 */
export async function requireAddress(
  { database }: Pick<Context, 'database'>,
  text: string,
): Promise<User & { email: string }> {
  const id = UserId.safeParse(text).data;
  const user = id === undefined ? null : await findUser(database.reader, id);
  if (user === null || user.email === null) throw notFound();
  return { ...user, email: user.email };
}
