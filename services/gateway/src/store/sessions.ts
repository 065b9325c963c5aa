import type { User } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import type { SessionFacts } from '../identity/session-token.ts';
import type { Sql } from './sql.ts';
import { userOf } from './users.ts';

export type StoredSession = SessionFacts & { id: string; familyId: string; user: User };

export type NewSession = { userId: string; tokenHash: string; createdAt: Date; expiresAt: Date; familyId?: string };

export async function insertSession(tx: Sql, session: NewSession): Promise<void> {
  const id = newId('ses');
  await tx.query(
    'INSERT INTO sessions (id, family_id, user_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)',
    [id, session.familyId ?? id, session.userId, session.tokenHash, session.createdAt, session.expiresAt],
  );
}

export async function findSession(sql: Sql, tokenHash: string): Promise<StoredSession | null> {
  const { rows } = await sql.query<{
    id: string;
    family_id: string;
    created_at: Date;
    expires_at: Date;
    rotated_at: Date | null;
    revoked_at: Date | null;
    user_id: string;
    email: string;
    name: string;
  }>(
    `SELECT s.id, s.family_id, s.created_at, s.expires_at, s.rotated_at, s.revoked_at, s.user_id, u.email, u.name
       FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = $1`,
    [tokenHash],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    id: row.id,
    familyId: row.family_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    rotatedAt: row.rotated_at,
    revokedAt: row.revoked_at,
    user: userOf({ id: row.user_id, email: row.email, name: row.name }),
  };
}

/** True for the one request that may mint the successor; parallel ones get false. */
export async function markRotated(
  tx: Sql,
  { id, familyId }: Pick<StoredSession, 'id' | 'familyId'>,
  now: Date,
): Promise<boolean> {
  await lockFamily(tx, familyId);
  const { rowCount } = await tx.query(
    'UPDATE sessions SET rotated_at = $2 WHERE id = $1 AND rotated_at IS NULL AND revoked_at IS NULL',
    [id, now],
  );
  return rowCount === 1;
}

export async function revokeFamily(
  tx: Sql,
  familyId: string,
  revocation: { now: Date; reason: string },
): Promise<void> {
  await lockFamily(tx, familyId);
  await tx.query(
    'UPDATE sessions SET revoked_at = $2, revoke_reason = $3 WHERE family_id = $1 AND revoked_at IS NULL',
    [familyId, revocation.now, revocation.reason],
  );
}

/**
 * Rotation and revocation of one family wait for each other at its first session. Without it a revocation would not see, and not
 * revoke, the successor that a rotation is about to commit.
 */
async function lockFamily(tx: Sql, familyId: string): Promise<void> {
  await tx.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE', [familyId]);
}
