import type { TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, keys, nullable, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';
import type { SealedEntry } from '../ledger/statement.ts';

type AnswerKey = {
  readonly tenant: TenantId;
  readonly principal: string;
  readonly route: string;
  readonly key: string;
};

/** The stored answer of an Idempotency-Key. */
type GivenAnswer = AnswerKey & {
  readonly fingerprint: string;
  /** The ULID of the sealed entry that the answer contains. The place of this entry in the log completes the answer. */
  readonly ulid: string | null;
  readonly answer: string | null;
  readonly createdAtMs: number;
  /** The place of the sealed entry in the log. Before the commit, the entry itself. */
  readonly place: number | SealedEntry | null;
};

const columns = columnsOf<Omit<GivenAnswer, 'place'>>({
  tenant: text('tenant_id'),
  principal: text('principal_id'),
  route: text('route'),
  key: text('key'),
  fingerprint: text('fingerprint'),
  ulid: nullable(text('ulid')),
  answer: nullable(text('answer')),
  createdAtMs: instantMs('created_at'),
});
/** If an answer younger than 24 hours exists, another request has won the race, and the batch is stale. */
const putAnswers = `DECLARE
  kept bigint;
BEGIN
  INSERT INTO idempotency_keys AS k (tenant_id, principal_id, route, key, fingerprint, state, status, answer, ulid, created_at)
  SELECT p.tenant_id, p.principal_id, p.route, p.key, p.fingerprint, 'done', 200, p.answer, p.ulid, p.created_at
    FROM jsonb_populate_recordset(NULL::idempotency_keys, puts) AS p ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, principal_id, route, key) DO UPDATE SET
    fingerprint = excluded.fingerprint, answer = excluded.answer, ulid = excluded.ulid, created_at = excluded.created_at
   WHERE k.created_at <= excluded.created_at - interval '24 hours';
  GET DIAGNOSTICS kept = ROW_COUNT;
  IF kept <> jsonb_array_length(puts) THEN PERFORM refuse_stale('key'); END IF;
END `;
const logIndex = nullable(integer('log_index'));

const nameOf = ({ tenant, principal, route, key }: AnswerKey) => [tenant, principal, route, key].join('\n');

/**
 * Answers are written with their decision. They are read only under locks, for example after a write failed because the
 * key exists.
 */
export const answers: Control<AnswerKey, GivenAnswer> = {
  name: 'answers',
  guard: 'key',
  keyColumns: 4,
  select: (parameter) =>
    `SELECT r.*, l.log_index FROM ${keys(parameter, 4)} AS wanted(tenant_id, principal_id, route, key)
       JOIN idempotency_keys r USING (tenant_id, principal_id, route, key) LEFT JOIN ledger l ON l.ulid = r.ulid`,
  rowOf: (stored) => ({ ...columns.rowOf(stored), place: logIndex.read(stored['log_index']) }),
  stored: columns.stored,
  columns: columns.columns,
  writes: {
    table: 'idempotency_keys',
    primaryKey: ['tenant_id', 'principal_id', 'route', 'key'],
    put: { kind: 'body', body: putAnswers },
  },
  keyValues: ({ tenant, principal, route, key }) => [tenant, principal, route, key],
  keyText: nameOf,
  idOf: nameOf,
  setsOf: (row) => [nameOf(row)],
};
