import type { LedgerWrite } from '../ledger/commit.ts';
import type { Change } from '../ledger/control.ts';
import type { SealedEntry } from '../ledger/statement.ts';
import type { LedgerEntry as LedgerRow } from '../generated/prisma/client.ts';
import { bigintArray, textArray } from './binary-array.ts';

/** A batch, and the time that the database compares with its own clock. */
export type Appending = LedgerWrite & { readonly datedMs: number };

/** An argument of a function of the ledger: its type in PostgreSQL, and its value for a batch. */
type Argument = { readonly type: string; readonly value: (appending: Appending) => unknown };

/** The argument for one column of `ledger`, for all receipts of a batch. */
type EntryColumn = Argument & { readonly argument: string };
type LedgerColumn = Exclude<keyof LedgerRow, 'log_index'>;

/**
 * One argument for each column of `ledger`; a column without one does not compile. The function assigns `log_index`.
 */
export const ledgerColumns: { readonly [Column in LedgerColumn]: EntryColumn } = {
  ulid: texts('ulids', ({ ulid }) => ulid),
  tenant_id: texts('tenants', ({ payload }) => payload.tenant_id),
  session_id: texts('sessions', ({ payload }) => payload.session_id),
  lamport_clock: bigints('clocks', ({ payload }) => payload.lamport_clock),
  principal_id: texts('principals', ({ payload }) => payload.principal_id),
  kind: texts('kinds', ({ payload }) => payload.kind),
  verdict: texts('verdicts', ({ payload }) => payload.verdict),
  reason_code: texts('reasons', ({ payload }) => payload.reason_code),
  action: texts('actions', ({ payload }) => payload.action),
  tool: texts('tools', ({ payload }) => payload.tool),
  issued_at: instants('issued', ({ payload }) => payload.issued_at),
  receipt_hash: texts('hashes', ({ receiptHash }) => receiptHash),
  payload: texts('payloads', ({ payloadText }) => payloadText),
  key_id: texts('key_ids', ({ signature }) => signature.key_id),
  signature: texts('signatures', ({ signature }) => signature.value),
  record: texts('records', ({ recordText }) => recordText),
};

/**
 * The arguments of `append` by name. Its declaration in `ledger-functions.sql` and its call are both generated from
 * this table.
 */
export const appendArguments: Readonly<Record<string, Argument>> = {
  decided_under: { type: 'bigint', value: ({ epoch }) => epoch.mark },
  chain_tenants: { type: 'text[]', value: ({ batch }) => textArray(batch.chains.map(({ tenant }) => tenant)) },
  chain_sessions: { type: 'text[]', value: ({ batch }) => textArray(batch.chains.map(({ session }) => session)) },
  chain_expected: {
    type: 'text[]',
    value: ({ batch }) => textArray(batch.chains.map(({ from }) => from.receiptHash)),
  },
  chain_clocks: { type: 'bigint[]', value: ({ batch }) => bigintArray(batch.chains.map(({ to }) => to.lamport)) },
  chain_hashes: { type: 'text[]', value: ({ batch }) => textArray(batch.chains.map(({ to }) => to.receiptHash)) },
  chain_issued: { type: 'timestamptz[]', value: ({ batch }) => batch.chains.map(({ to }) => to.issuedAt) },
  reads: { type: 'jsonb', value: ({ batch }) => readsJson(batch.reads) },
  puts: { type: 'jsonb', value: ({ batch }) => changesJson(batch.changes, 'put') },
  drops: { type: 'jsonb', value: ({ batch }) => changesJson(batch.changes, 'drop') },
  ...Object.fromEntries(Object.values(ledgerColumns).map(({ argument, ...rest }) => [argument, rest])),
};

/** The arguments of `hold_append` that `append` lacks. */
export const holdArguments: Readonly<Record<'dated' | 'read_on', Argument>> = {
  dated: { type: 'timestamptz', value: ({ datedMs }) => new Date(datedMs).toISOString() },
  read_on: { type: 'text', value: ({ epoch }) => epoch.timeline },
};

function texts(argument: string, of: (entry: SealedEntry) => string | null): EntryColumn {
  return { argument, type: 'text[]', value: ({ batch }) => textArray(batch.sealed.map(of)) };
}

function bigints(argument: string, of: (entry: SealedEntry) => number): EntryColumn {
  return { argument, type: 'bigint[]', value: ({ batch }) => bigintArray(batch.sealed.map(of)) };
}

function instants(argument: string, of: (entry: SealedEntry) => string): EntryColumn {
  return { argument, type: 'timestamptz[]', value: ({ batch }) => batch.sealed.map(of) };
}

function readsJson(reads: LedgerWrite['batch']['reads']): string | null {
  const rows = reads.flatMap((read) =>
    read.rows.length === 0 ? [] : [[read.control.name, storedRows(read)] as const],
  );
  return rows.length === 0 ? null : JSON.stringify(Object.fromEntries(rows));
}

function storedRows({ control, rows }: LedgerWrite['batch']['reads'][number]): unknown[] {
  return rows.map((row) => control.stored?.(row));
}

/** Rows by the name of their control; `null` when there are none, as in most batches. */
function changesJson(changes: readonly Change[], kind: Change['kind']): string | null {
  const rows: Record<string, unknown[]> = {};
  for (const { control, row, kind: of } of changes) {
    if (of !== kind) continue;
    if (control.stored === undefined) throw new Error(`The ledger does not write ${control.name}`);
    (rows[control.name] ??= []).push(control.stored(row));
  }
  return Object.keys(rows).length === 0 ? null : JSON.stringify(rows);
}
