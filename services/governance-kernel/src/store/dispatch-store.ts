import { dispatches } from '../decision/dispatches.ts';
import type { Abandoned } from '../decision/settle-abandoned.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';
import { sealedPayload } from '../ledger/sealed-text.ts';

export type OverdueQuery = { now: Date; limit: number; except: readonly string[] };

/**
 * Decisions whose call is past its deadline without an outcome, earliest deadline first, except the ULIDs in `except`.
 * Reads across all tenants, since the reconciler serves the whole kernel. Two statements give a consistent result: a
 * dispatch is committed with its decision, which is never removed.
 */
export async function listOverdueDispatches(
  reader: Reader,
  { now, limit, except }: OverdueQuery,
): Promise<Abandoned[]> {
  const rows = await reader.dispatch.findMany({
    where: { deadline_at: { lt: now }, ulid: { notIn: [...except] } },
    orderBy: { deadline_at: 'asc' },
    take: limit,
  });
  const overdue = rows.map((row) => dispatches.rowOf(asStored(row)));
  const decisions = await reader.ledgerEntry.findMany({
    where: { ulid: { in: overdue.map(({ ulid }) => ulid) } },
    select: { ulid: true, payload: true },
  });
  const payloads = new Map(decisions.map(({ ulid, payload }) => [ulid, payload]));
  return overdue.flatMap(({ ulid, reservations }) => {
    const payload = payloads.get(ulid);
    if (payload === undefined) return []; // without a decision there is nothing to settle
    const sealed = sealedPayload(payload);
    return [{ decided: sealed, reserved: reservations.map(({ budget_id }) => budget_id) }];
  });
}
