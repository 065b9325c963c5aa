import { UserId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { findUser } from '../store/users.ts';

/** A person (`text` is an id that somebody sent) with the address that codes go to. Throws NOT_FOUND for nobody, and for whoever signs in by messenger alone. */
export async function requireAddress(
  { database }: Pick<Context, 'database'>,
  text: string,
): Promise<User & { email: string }> {
  const id = UserId.safeParse(text).data;
  const user = id === undefined ? null : await findUser(database.reader, id);
  if (user === null || user.email === null) throw notFound();
  return { ...user, email: user.email };
}
