import type { IdempotencyStore, IdempotencyVerdict, StoredAnswer } from '@countersign/service-kit';
import { z } from 'zod';
import type { Sql } from './sql.ts';

const keptHours = 24;
/** A request that runs for longer lost its process; its key is free again. */
const runningMinutes = 5;

const Answer = z.object({ status: z.number(), headers: z.record(z.string(), z.string()), text: z.string() });

/** The database decides which of two equal claims runs. */
export function idempotencyStore(sql: Sql): IdempotencyStore {
  return {
    begin: (scope, key, fingerprint) => begin(sql, { scope, key, fingerprint }),
    complete: async (scope, key, answer) => {
      const stored: StoredAnswer = answer;
      await sql.query('UPDATE idempotency_keys SET answer = $3 WHERE scope = $1 AND key = $2', [
        scope,
        key,
        JSON.stringify(stored),
      ]);
    },
    abandon: async (scope, key) => {
      await sql.query('DELETE FROM idempotency_keys WHERE scope = $1 AND key = $2 AND answer IS NULL', [scope, key]);
    },
  };
}

type Claim = { scope: string; key: string; fingerprint: string };

async function begin(sql: Sql, { scope, key, fingerprint }: Claim): Promise<IdempotencyVerdict> {
  await sql.query(
    `DELETE FROM idempotency_keys WHERE scope = $1 AND key = $2
        AND (created_at < now() - $3 * interval '1 hour' OR (answer IS NULL AND created_at < now() - $4 * interval '1 minute'))`,
    [scope, key, keptHours, runningMinutes],
  );
  const claimed = await sql.query(
    `INSERT INTO idempotency_keys (scope, key, fingerprint, created_at) VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING`,
    [scope, key, fingerprint],
  );
  if (claimed.rowCount === 1) return { kind: 'run' };
  const { rows } = await sql.query<{ fingerprint: string; answer: string | null }>(
    'SELECT fingerprint, answer FROM idempotency_keys WHERE scope = $1 AND key = $2',
    [scope, key],
  );
  const [stored] = rows;
  if (stored === undefined) return { kind: 'in-flight' }; // given up in this moment: the caller comes back
  if (stored.fingerprint !== fingerprint) return { kind: 'mismatch' };
  return stored.answer === null
    ? { kind: 'in-flight' }
    : { kind: 'replay', answer: Answer.parse(JSON.parse(stored.answer)) };
}

/** Removes answers that are not given again any more. */
export async function forgetAnswers(sql: Sql): Promise<void> {
  await sql.query(`DELETE FROM idempotency_keys WHERE created_at < now() - $1 * interval '1 hour'`, [keptHours]);
}
