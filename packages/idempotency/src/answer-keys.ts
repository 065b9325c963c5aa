import type { Queryable } from '@countersign/messaging';
import type { IdempotencyClaim, IdempotencyVerdict, StoredAnswer } from '@countersign/service-kit';
import { z } from 'zod';

/** How long an answer is replayed, in milliseconds. `put_answers` in the kernel's migrations replaces older answers. */
export const answersKeptMs = 86_400_000;

/**
 * The scope contains the operation and the caller, so that the key of one caller never returns the answer of another.
 */
type Place = { scope: string; key: string };

export type AnswerClaim = IdempotencyClaim & { scope: string };

/** `now` is the clock of the database, which all replicas share. */
type Begin = AnswerClaim & { now: Date; runningMsMax: number };

/** Selects a claim of a key. `begunAt` is the `now` of its `begin`. An absent member matches any value. */
type Row = { begunAt?: Date; state?: 'running' | 'done' };

/** The scope columns of a service's table, with their values. */
type ScopeColumns = (scope: string) => Readonly<Record<string, string>>;

/**
 * The statements on a service's table `idempotency_keys`. Each runs in the caller's transaction.
 *
 * @example
 * const keys = new AnswerKeys((scope) => ({ scope }));
 * const verdict = await keys.begin(tx, { ...claim, now, runningMsMax: 60_000 });
 */
export class AnswerKeys {
  readonly #columnsOf: ScopeColumns;

  constructor(columnsOf: ScopeColumns) {
    this.#columnsOf = columnsOf;
  }

  /** Starts a claim, or returns the state of the earlier claim. Waits for an equal claim that is not committed yet. */
  async begin(tx: Queryable, { scope, key, fingerprint, now, runningMsMax }: Begin): Promise<IdempotencyVerdict> {
    const sql = this.#statement({ scope, key });
    const [old, lost] = [sql.at(ago(now, answersKeptMs)), sql.at(ago(now, runningMsMax))];
    const ended = `created_at < ${old} OR (state = 'running' AND created_at < ${lost})`;
    await tx.query(`DELETE FROM idempotency_keys WHERE ${sql.where} AND (${ended})`, sql.values);
    if (await this.#claim(tx, { scope, key, fingerprint, now })) return { kind: 'run' };
    const row = await this.#find(tx, { scope, key });
    if (row === null) return { kind: 'in-flight' }; // the claim was just released: the caller repeats the request
    if (row.fingerprint !== fingerprint) return { kind: 'mismatch' };
    return isRunning(row) ? { kind: 'in-flight' } : { kind: 'replay', answer: answerOf(row) };
  }

  /**
   * Stores the answer of a claim. Returns `false` when the claim does not exist any more. A transaction that changes
   * state must then roll back.
   */
  async complete(tx: Queryable, place: Place, answer: StoredAnswer, row: Row = {}): Promise<boolean> {
    const sql = this.#statement(place);
    const done = doneBy(sql, answer);
    const { rows } = await tx.query(
      `UPDATE idempotency_keys SET ${done} WHERE ${sql.where}${heldBy(sql, row)} RETURNING key`,
      sql.values,
    );
    return rows.length > 0;
  }

  /** Releases the key of a claim. */
  async free(tx: Queryable, place: Place, row: Row): Promise<void> {
    const sql = this.#statement(place);
    await tx.query(`DELETE FROM idempotency_keys WHERE ${sql.where}${heldBy(sql, row)}`, sql.values);
  }

  /** Removes keys that are too old for a replay, with or without an answer. */
  async forget(tx: Queryable, now: Date): Promise<void> {
    const old = ago(now, answersKeptMs).toISOString();
    await tx.query(`DELETE FROM idempotency_keys WHERE created_at < $1::timestamptz`, [old]);
  }

  async #claim(tx: Queryable, { scope, key, fingerprint, now }: Omit<Begin, 'runningMsMax'>): Promise<boolean> {
    const row = { ...this.#columnsOf(scope), key, fingerprint, state: 'running' };
    const values = [...Object.values(row), now.toISOString()];
    const columns = [...Object.keys(row), 'created_at'];
    const places = values.map((_, index) => `$${index + 1}`);
    const { rows } = await tx.query(
      `INSERT INTO idempotency_keys (${columns.join(', ')}) VALUES (${places.join(', ')}::timestamptz)
       ON CONFLICT DO NOTHING RETURNING key`,
      values,
    );
    return rows.length > 0;
  }

  async #find(tx: Queryable, place: Place): Promise<KeyRow | null> {
    const { where, values } = this.#statement(place);
    const { rows } = await tx.query(
      `SELECT fingerprint, state, status, answer, headers FROM idempotency_keys WHERE ${where}`,
      values,
    );
    return rows[0] === undefined ? null : KeyRow.parse(rows[0]);
  }

  #statement({ scope, key }: Place): Statement {
    return new Statement({ ...this.#columnsOf(scope), key });
  }
}

/** The conditions that select a key, and the values of their parameters. */
class Statement {
  readonly where: string;
  readonly values: unknown[];

  constructor(place: Readonly<Record<string, string>>) {
    this.values = Object.values(place);
    this.where = Object.keys(place)
      .map((column, index) => `${column} = $${index + 1}`)
      .join(' AND ');
  }

  /** Adds a parameter, and returns its placeholder. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  at(time: Date): string {
    return `${this.value(time.toISOString())}::timestamptz`;
  }
}

function heldBy(sql: Statement, { begunAt, state }: Row): string {
  const begun = begunAt === undefined ? '' : ` AND created_at = ${sql.at(begunAt)}`;
  return state === undefined ? begun : `${begun} AND state = ${sql.value(state)}`;
}

function doneBy(sql: Statement, { status, text, headers }: StoredAnswer): string {
  const [statusAt, answerAt, headersAt] = [status, text, JSON.stringify(headers)].map((value) => sql.value(value));
  return `state = 'done', status = ${statusAt}::int, answer = ${answerAt}, headers = ${headersAt}::jsonb`;
}

const KeyRow = z.object({
  fingerprint: z.string(),
  state: z.enum(['running', 'done']),
  status: z.int().nullable(),
  answer: z.string().nullable(),
  headers: z.record(z.string(), z.string()).nullable(),
});
type KeyRow = z.infer<typeof KeyRow>;

function isRunning({ state, answer }: KeyRow): boolean {
  return state === 'running' || answer === null;
}

const Answered = z.object({ status: z.int(), answer: z.string() });

function answerOf(row: KeyRow): StoredAnswer {
  const { status, answer } = Answered.parse(row);
  return { status, headers: row.headers ?? {}, text: answer };
}

function ago(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}
