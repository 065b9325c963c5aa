import { UserId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { UserModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';

/** The user of an address. A new user is created with the local part as the name. */
export async function ensureUser(tx: Tx, email: string, now: Date): Promise<User> {
  const name = email.slice(0, email.lastIndexOf('@'));
  const row = await tx.user.upsert({
    where: { email },
    create: { id: newId('usr'), email, name, createdAt: now },
    // The update must set a member. Otherwise Prisma reads first and then inserts, and two simultaneous sign-ins would
    // both insert.
    update: { email },
  });
  return userOf(row);
}

/** The user of an address that an identity provider manages. A new user is created with the name from the provider. */
export async function ensureProvisionedUser(
  tx: Tx,
  { address: email, name }: { address: string; name: string },
  now: Date,
): Promise<User> {
  const create = { id: newId('usr'), email, name, createdAt: now };
  return userOf(await tx.user.upsert({ where: { email }, create, update: { email } }));
}

export async function renameUser(tx: Tx, id: UserId, name: string): Promise<void> {
  await tx.user.update({ where: { id }, data: { name } });
}

/** `false` when the address of the user is no longer `from`. */
export async function changeAddress(
  tx: Tx,
  { id, from, to }: { id: UserId; from: string; to: string },
): Promise<boolean> {
  const { count } = await tx.user.updateMany({ where: { id, email: from }, data: { email: to } });
  return count === 1;
}

/** The user of a messenger. A new user is created with the name from the messenger. */
export async function ensureMessengerUser(
  tx: Tx,
  { messengerId, name }: { messengerId: string; name: string },
  now: Date,
): Promise<User> {
  const row = await tx.user.upsert({
    where: { messengerId },
    create: { id: newId('usr'), messengerId, name, createdAt: now },
    update: { messengerId },
  });
  return userOf(row);
}

export async function findUserByAddress(reader: Reader, email: string): Promise<User | null> {
  const row = await reader.user.findUnique({ where: { email } });
  return row === null ? null : userOf(row);
}

export async function findUser(reader: Reader, id: UserId): Promise<User | null> {
  const row = await reader.user.findUnique({ where: { id } });
  return row === null ? null : userOf(row);
}

/** The proven identities of a person: addresses and messenger ids. */
export async function listKnownAs(reader: Reader, id: UserId): Promise<string[]> {
  const row = await reader.user.findUnique({ where: { id }, select: { email: true, messengerId: true } });
  return [row?.email, row?.messengerId].flatMap((name) => name ?? []);
}

/** Locks the person until the transaction ends. */
export async function lockUser(tx: Tx, id: UserId): Promise<void> {
  await tx.$executeRaw`SELECT FROM users WHERE id = ${id} FOR UPDATE`;
}

export function userOf(row: UserModel): User {
  return { id: UserId.parse(row.id), name: row.name, email: row.email };
}
