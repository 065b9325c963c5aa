import type { Tx } from './database.ts';

type Place = { workspaceId: string; month: string };

/** Sets money aside before a call. False, and nothing changed, when the month's budget cannot carry it. */
export async function reserveSpend(
  tx: Tx,
  { workspaceId, month }: Place,
  { micros, budgetMicros }: { micros: number; budgetMicros: number },
): Promise<boolean> {
  await tx.spendMonth.createMany({ data: { workspaceId, month }, skipDuplicates: true });
  const changed = await tx.$executeRaw`
    UPDATE spend_months SET reserved_micros = reserved_micros + ${micros}::bigint
     WHERE workspace_id = ${workspaceId} AND month = ${month}
       AND spent_micros + reserved_micros + ${micros}::bigint <= ${budgetMicros}::bigint`;
  return changed === 1;
}

/** Replaces a reservation by what the call really cost. */
export async function settleSpend(
  tx: Tx,
  { workspaceId, month }: Place,
  { reserved, spent }: { reserved: number; spent: number },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE spend_months SET reserved_micros = greatest(0, reserved_micros - ${reserved}::bigint),
           spent_micros = spent_micros + ${spent}::bigint
     WHERE workspace_id = ${workspaceId} AND month = ${month}`;
}
