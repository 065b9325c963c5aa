import { instantOrNull, instantOf, Digest, SessionId, type TenantId } from '@countersign/contracts';
import type { GraphSession, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { Reader } from './database.ts';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { receiptColumnsSql, receiptsOf } from './ledger-row.ts';
import { WholeNumber } from './whole-number.ts';

const Sessions = z.array(
  z.object({
    session_id: SessionId,
    log_index: WholeNumber,
    begun_at: z.date(),
    lamport_clock: WholeNumber,
    receipt_hash: Digest,
    issued_at: z.date().nullable(),
  }),
);

/**
 * Sessions by their start, latest first, before a place in the log. NULLS LAST is the order of the index, which no
 * other order can use.
 */
export async function listSessions(
  reader: Reader,
  tenant: TenantId,
  { limit, before }: { limit: number; before: number | null },
): Promise<GraphSession[]> {
  const older = before === null ? Sql.empty : Sql.sql`AND log_index < ${before}`;
  const rows = await reader.$queryRaw`
    SELECT began.session_id, began.log_index, began.issued_at AS begun_at, head.lamport_clock, head.receipt_hash, head.issued_at
      FROM (SELECT tenant_id, session_id, log_index, issued_at FROM ledger
             WHERE tenant_id = ${tenant} AND lamport_clock = 1 ${older}
             ORDER BY log_index DESC NULLS LAST LIMIT ${limit}) AS began
      JOIN session_heads head ON head.tenant_id = began.tenant_id AND head.session_id = began.session_id
     ORDER BY began.log_index DESC`;
  return Sessions.parse(rows).map((row) => ({
    session_id: row.session_id,
    first_log_index: row.log_index,
    receipts: row.lamport_clock,
    head_hash: row.receipt_hash,
    begun_at: instantOf(row.begun_at),
    last_issued_at: instantOrNull(row.issued_at),
  }));
}

/** A receipt by its hash, if the tenant has it, with the hash of its successor. */
export async function findByHash(
  reader: Reader,
  tenant: TenantId,
  hash: Digest,
): Promise<{ receipt: StoredReceipt; next: Digest | null } | null> {
  const rows = await reader.$queryRaw`
    SELECT ${receiptColumnsSql} FROM ledger WHERE receipt_hash = ${hash} AND tenant_id = ${tenant} LIMIT 1`;
  const [receipt] = receiptsOf(rows);
  if (receipt === undefined) return null;
  const { session_id, lamport_clock } = receipt.payload;
  const next = await reader.ledgerEntry.findFirst({
    where: { tenant_id: tenant, session_id, lamport_clock: lamport_clock + 1 },
    select: { receipt_hash: true },
  });
  return { receipt, next: next === null ? null : Digest.parse(next.receipt_hash) };
}
