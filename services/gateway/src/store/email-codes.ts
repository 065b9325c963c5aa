import type { LiveCode } from '../identity/email-code.ts';
import type { Sql } from './sql.ts';

/** Serialises all that happens to the codes of one address until the transaction ends, known address or not. */
export async function lockAddress(tx: Sql, email: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('email-code:' || $1, 0))`, [email]);
}

export async function countCodesSince(tx: Sql, email: string, since: Date): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM email_codes WHERE email = $1 AND created_at > $2',
    [email, since],
  );
  return rows[0]?.count ?? 0;
}

/** Ends the live code of the address, if any, and stores the new one. */
export async function replaceLiveCode(
  tx: Sql,
  code: { id: string; email: string; codeHmac: string; createdAt: Date; expiresAt: Date },
): Promise<void> {
  await tx.query('UPDATE email_codes SET ended_at = $2 WHERE email = $1 AND ended_at IS NULL', [
    code.email,
    code.createdAt,
  ]);
  await tx.query('INSERT INTO email_codes (id, email, code_hmac, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)', [
    code.id,
    code.email,
    code.codeHmac,
    code.createdAt,
    code.expiresAt,
  ]);
}

export async function findLiveCode(tx: Sql, email: string): Promise<LiveCode | null> {
  const { rows } = await tx.query<{ id: string; email: string; code_hmac: string; tries: number; expires_at: Date }>(
    'SELECT id, email, code_hmac, tries, expires_at FROM email_codes WHERE email = $1 AND ended_at IS NULL FOR UPDATE',
    [email],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { id: row.id, email: row.email, codeHmac: row.code_hmac, tries: row.tries, expiresAt: row.expires_at };
}

export async function countTry(tx: Sql, codeId: string): Promise<void> {
  await tx.query('UPDATE email_codes SET tries = tries + 1 WHERE id = $1', [codeId]);
}

export async function endCode(tx: Sql, codeId: string, now: Date): Promise<void> {
  await tx.query('UPDATE email_codes SET ended_at = $2 WHERE id = $1', [codeId, now]);
}
