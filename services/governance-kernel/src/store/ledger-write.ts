import type { Change } from '../ledger/control.ts';
import type { LedgerWrite } from '../ledger/commit.ts';
import { bigintArray, textArray } from './binary-array.ts';

/** The parameters of `kernel.append`, in its order. */
export function parametersOf({ epoch, batch }: LedgerWrite): unknown[] {
  const { sealed, chains, changes, reads } = batch;
  const payloads = sealed.map(({ payload }) => payload);
  return [
    epoch.mark,
    textArray(chains.map(({ tenant }) => tenant)),
    textArray(chains.map(({ session }) => session)),
    textArray(chains.map(({ from }) => from.receiptHash)),
    bigintArray(chains.map(({ to }) => to.lamport)),
    textArray(chains.map(({ to }) => to.receiptHash)),
    chains.map(({ to }) => to.issuedAt),
    readsJson(reads),
    changesJson(changes, 'put'),
    changesJson(changes, 'drop'),
    textArray(sealed.map(({ ulid }) => ulid)),
    textArray(payloads.map((payload) => payload.tenant_id)),
    textArray(payloads.map((payload) => payload.session_id)),
    bigintArray(payloads.map((payload) => payload.lamport_clock)),
    textArray(payloads.map((payload) => payload.principal_id)),
    textArray(payloads.map((payload) => payload.kind)),
    textArray(payloads.map((payload) => payload.verdict)),
    textArray(payloads.map((payload) => payload.reason_code)),
    textArray(payloads.map((payload) => payload.action)),
    textArray(payloads.map((payload) => payload.tool)),
    payloads.map((payload) => payload.issued_at),
    textArray(sealed.map(({ receiptHash }) => receiptHash)),
    textArray(sealed.map(({ payloadText }) => payloadText)),
    textArray(sealed.map(({ signature }) => signature.key_id)),
    textArray(sealed.map(({ signature }) => signature.value)),
    textArray(sealed.map(({ recordText }) => recordText)),
  ];
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

/** Rows by the name of their control; null when there are none, which is most of the time. */
function changesJson(changes: readonly Change[], kind: Change['kind']): string | null {
  const rows: Record<string, unknown[]> = {};
  for (const { control, row, kind: of } of changes) {
    if (of !== kind) continue;
    if (control.stored === undefined) throw new Error(`The ledger does not write ${control.name}`);
    (rows[control.name] ??= []).push(control.stored(row));
  }
  return Object.keys(rows).length === 0 ? null : JSON.stringify(rows);
}
