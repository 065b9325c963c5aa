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

/** The answer that was given to an Idempotency-Key. */
type GivenAnswer = AnswerKey & {
  readonly fingerprint: string;
  /** The ULID of the entry that the answer tells of, whose place in the log completes it. */
  readonly ulid: string | null;
  readonly answer: string | null;
  readonly createdAtMs: number;
  /** Where that entry stands in the log; before the commit, the entry itself. */
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
const logIndex = nullable(integer('log_index'));

const nameOf = ({ tenant, principal, route, key }: AnswerKey) => [tenant, principal, route, key].join('\n');

/** An answer is written with its decision and read only when the key is there already. */
export const answers: Control<AnswerKey, GivenAnswer> = {
  name: 'answers',
  guard: 'key',
  keyColumns: 4,
  select: (parameter) =>
    `SELECT r.*, l.log_index FROM ${keys(parameter, 4)} AS wanted(tenant_id, principal_id, route, key)
       JOIN idempotency_keys r USING (tenant_id, principal_id, route, key) LEFT JOIN ledger l ON l.ulid = r.ulid`,
  rowOf: (stored) => ({ ...columns.rowOf(stored), place: logIndex.read(stored['log_index']) }),
  stored: columns.stored,
  keyValues: ({ tenant, principal, route, key }) => [tenant, principal, route, key],
  keyText: nameOf,
  idOf: nameOf,
  setsOf: (row) => [nameOf(row)],
};
