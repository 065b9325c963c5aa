import { UserId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { UserModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';

/** The user of an address, made on first sight; the name begins as the local part. */
export async function ensureUser(tx: Tx, email: string, now: Date): Promise<User> {
  const name = email.slice(0, email.lastIndexOf('@'));
  const row = await tx.user.upsert({
    where: { email },
    create: { id: newId('usr'), email, name, createdAt: now },
    // Something must be set. Otherwise Prisma looks first and then inserts, and two sign-ins at once would both insert.
    update: { email },
  });
  return userOf(row);
}

/** The user of an address that an identity provider manages, made on first sight under the name that the provider sends. */
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

/** False when the user has another address by now. */
export async function changeAddress(
  tx: Tx,
  { id, from, to }: { id: UserId; from: string; to: string },
): Promise<boolean> {
  const { count } = await tx.user.updateMany({ where: { id, email: from }, data: { email: to } });
  return count === 1;
}

/** The user of a messenger, made on first sight; the name begins as the one over there. */
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

/** The proven identities of a person: an address, an id of a messenger. */
export async function listKnownAs(reader: Reader, id: UserId): Promise<string[]> {
  const row = await reader.user.findUnique({ where: { id }, select: { email: true, messengerId: true } });
  return [row?.email, row?.messengerId].flatMap((name) => name ?? []);
}

/** Nothing else that locks the person goes on until the transaction ends. */
export async function lockUser(tx: Tx, id: UserId): Promise<void> {
  await tx.$executeRaw`SELECT FROM users WHERE id = ${id} FOR UPDATE`;
}

export function userOf(row: UserModel): User {
  return { id: UserId.parse(row.id), name: row.name, email: row.email };
}
