import { UserId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { findUser } from '../store/users.ts';

/** The person with an id from the caller. Throws NOT_FOUND for an unknown id. */
export async function requirePerson({ database }: Pick<Context, 'database'>, text: string): Promise<User> {
  const id = UserId.safeParse(text).data;
  const user = id === undefined ? null : await findUser(database.reader, id);
  if (user === null) throw notFound();
  return user;
}

/** Like requirePerson, with the address for codes. Throws NOT_FOUND for a person who signs in by messenger only. */
export async function requireAddress(
  context: Pick<Context, 'database'>,
  text: string,
): Promise<User & { email: string }> {
  const user = await requirePerson(context, text);
  if (user.email === null) throw notFound();
  return { ...user, email: user.email };
}
