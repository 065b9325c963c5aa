import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { dispatches } from '../boundary/dispatches.ts';
import type { Abandoned } from '../boundary/settle-abandoned.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

export type OverdueQuery = { now: Date; limit: number; except: readonly string[] };

/**
 * Decisions whose call is past its deadline without an outcome, oldest first, but for the ULIDs in `except`. Over all tenants: the
 * reconciler serves the kernel. In two statements, which is as good as one: a dispatch commits with its decision, which stays.
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
    const sealed = JSON.parse(payload) as ReceiptPayload; // by this kernel
    return [{ decided: sealed, held: reservations.map(({ budget_id }) => budget_id) }];
  });
}
