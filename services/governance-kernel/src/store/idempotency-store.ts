import type { IdempotencyClaim, IdempotencyStore, StoredAnswer } from '@countersign/service-kit';
import type pg from 'pg';

type Row = {
  fingerprint: string;
  state: 'running' | 'done';
  status: number;
  answer: string;
  headers: Record<string, string> | null;
};

/** How long an answer is given again. */
export const answersKeptMs = 86_400_000;

type IdempotencyOptions = {
  clock: () => Date;
  /** A request that runs longer than this was lost with its process: its key may be claimed again. */
  runningMsMax: number;
};

/** Of a key that is claimed elsewhere, in the ledger: its answer is looked for and kept without a claim of its own. */
export type AnswerStore = IdempotencyStore & {
  /** Reads and nothing else, so that looking never takes the place of an answer that is being kept. */
  find(scope: string, claim: IdempotencyClaim): Promise<StoredAnswer | null>;
  keep(scope: string, claim: IdempotencyClaim, answer: StoredAnswer): Promise<void>;
};

/** Answers of mutating routes by Idempotency-Key. Routes that seal keep their key in the ledger's transaction instead. */
export function idempotencyStore(pool: pg.Pool, { clock, runningMsMax }: IdempotencyOptions): AnswerStore {
  return {
    begin: async (scope, key, fingerprint) => {
      const now = clock();
      await pool.query(
        `DELETE FROM idempotency_keys WHERE tenant_id = '' AND principal_id = '' AND route = $1 AND key = $2
            AND (created_at < $3 OR (state = 'running' AND created_at < $4))`,
        [scope, key, new Date(now.getTime() - answersKeptMs), new Date(now.getTime() - runningMsMax)],
      );
      const { rowCount } = await pool.query(
        `INSERT INTO idempotency_keys (tenant_id, principal_id, route, key, fingerprint, state, created_at)
         VALUES ('', '', $1, $2, $3, 'running', $4) ON CONFLICT DO NOTHING`,
        [scope, key, fingerprint, now],
      );
      if (rowCount === 1) return { kind: 'run' };
      const { rows } = await pool.query<Row>(
        `SELECT * FROM idempotency_keys WHERE tenant_id = '' AND principal_id = '' AND route = $1 AND key = $2`,
        [scope, key],
      );
      const [row] = rows;
      if (row === undefined) return { kind: 'in-flight' }; // abandoned in this moment; the caller comes back
      if (row.fingerprint !== fingerprint) return { kind: 'mismatch' };
      if (row.state === 'running') return { kind: 'in-flight' };
      return { kind: 'replay', answer: answerOf(row) };
    },
    complete: async (scope, key, answer) => {
      await pool.query(
        `UPDATE idempotency_keys SET state = 'done', status = $3, answer = $4, headers = $5
          WHERE tenant_id = '' AND principal_id = '' AND route = $1 AND key = $2`,
        [scope, key, answer.status, answer.text, JSON.stringify(answer.headers)],
      );
    },
    abandon: async (scope, key) => {
      await pool.query(
        `DELETE FROM idempotency_keys WHERE tenant_id = '' AND principal_id = '' AND route = $1 AND key = $2 AND state = 'running'`,
        [scope, key],
      );
    },
    find: async (scope, { key, fingerprint }) => {
      const { rows } = await pool.query<Row>(
        `SELECT * FROM idempotency_keys WHERE tenant_id = '' AND principal_id = '' AND route = $1 AND key = $2
            AND fingerprint = $3 AND state = 'done' AND created_at > $4`,
        [scope, key, fingerprint, new Date(clock().getTime() - answersKeptMs)],
      );
      const [row] = rows;
      return row === undefined ? null : answerOf(row);
    },
    keep: async (scope, { key, fingerprint }, { status, text, headers }) => {
      await pool.query(
        `INSERT INTO idempotency_keys (tenant_id, principal_id, route, key, fingerprint, state, status, answer, headers, created_at)
         VALUES ('', '', $1, $2, $3, 'done', $4, $5, $6, $7)
         ON CONFLICT (tenant_id, principal_id, route, key) DO UPDATE SET fingerprint = excluded.fingerprint, state = 'done',
           status = excluded.status, answer = excluded.answer, headers = excluded.headers, created_at = excluded.created_at`,
        [scope, key, fingerprint, status, text, JSON.stringify(headers), clock()],
      );
    },
  };
}

function answerOf({ status, headers, answer }: Row): StoredAnswer {
  return { status, headers: headers ?? {}, text: answer };
}

/** Removes answers that are not given again any more. */
export async function forgetAnswers(pool: pg.Pool, now: Date): Promise<void> {
  await pool.query('DELETE FROM idempotency_keys WHERE created_at <= $1', [new Date(now.getTime() - answersKeptMs)]);
}
