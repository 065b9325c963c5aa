import { UserId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import { onlyRow, type Sql } from './sql.ts';

type UserRow = { id: string; email: string; name: string };

/** The user of an address, made on first sight; the name begins as the local part. */
export async function ensureUser(tx: Sql, email: string, now: Date): Promise<User> {
  const name = email.slice(0, email.lastIndexOf('@'));
  const { rows } = await tx.query<UserRow>(
    `INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (email) DO UPDATE SET email = EXCLUDED.email RETURNING id, email, name`,
    [newId('usr'), email, name, now],
  );
  return userOf(onlyRow(rows));
}

export function userOf(row: UserRow): User {
  return { id: UserId.parse(row.id), name: row.name, email: row.email };
}
