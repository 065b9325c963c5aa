import type { StoredRow } from '../ledger/control.ts';

/** A Prisma row in the form of PostgreSQL's JSON: bigint columns as numbers, timestamps as text. */
export function asStored(model: object): StoredRow {
  return Object.fromEntries(Object.entries(model).map(([name, value]) => [name, storedValue(value)]));
}

function storedValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Date ? value.toISOString() : value;
}
