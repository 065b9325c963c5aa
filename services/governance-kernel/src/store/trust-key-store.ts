import type pg from 'pg';

export type TrustKeyRow = {
  key_id: string;
  public_key: Buffer;
  valid_from: Date;
  valid_until: Date | null;
  revoked_at: Date | null;
};

/** Publishes the key that this process signs with; a key that is known keeps its window. */
export async function recordSigningKey(
  pool: pg.Pool,
  key: { keyId: string; publicKey: Uint8Array },
  now: Date,
): Promise<void> {
  await pool.query(
    `INSERT INTO trust_keys (key_id, public_key, valid_from) VALUES ($1, $2, $3) ON CONFLICT (key_id) DO NOTHING`,
    [key.keyId, Buffer.from(key.publicKey), now],
  );
}

export async function listTrustKeys(pool: pg.Pool): Promise<TrustKeyRow[]> {
  const { rows } = await pool.query<TrustKeyRow>('SELECT * FROM trust_keys ORDER BY valid_from, key_id');
  return rows;
}
