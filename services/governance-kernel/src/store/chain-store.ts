import type { Digest, SessionId, TenantId } from '@countersign/contracts';
import { linkColumns, linkOf, type ChainLink } from './chain-link.ts';
import type { Reader } from './database.ts';
import { signedBySql, type Signed } from './signed-by.ts';

type ChainScope = { tenant: TenantId; session: SessionId };

/** The end of a chain. `null` when the session has no entries. */
export async function findChainEnd(
  reader: Reader,
  { tenant, session }: ChainScope,
): Promise<{ lamport: number; receiptHash: Digest } | null> {
  const row = await reader.sessionHead.findFirst({
    where: { tenant_id: tenant, session_id: session, lamport_clock: { gt: 0 } },
    select: { lamport_clock: true, receipt_hash: true },
  });
  if (row === null) return null;
  return { lamport: Number(row.lamport_clock), receiptHash: row.receipt_hash as Digest }; // sealed by this kernel
}

/** The chain of one session between two places, both included, in order. */
export async function listChain(
  reader: Reader,
  { tenant, session }: ChainScope,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<ChainLink[]> {
  const rows = await reader.ledgerEntry.findMany({
    where: { tenant_id: tenant, session_id: session, lamport_clock: { gte: from, lte: to } },
    orderBy: { lamport_clock: 'asc' },
    take: limit,
    select: linkColumns,
  });
  return rows.map(linkOf);
}

/** Whether this part contains a signature of the key. The search stops at the first one. */
export async function hasSignedOfChain(
  reader: Reader,
  { tenant, session, from, to }: ChainScope & { from: number; to: number },
  signed: Signed,
): Promise<boolean> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger WHERE tenant_id = ${tenant} AND session_id = ${session}
       AND lamport_clock BETWEEN ${from} AND ${to} AND ${signedBySql(signed)} ORDER BY lamport_clock LIMIT 1`;
  return rows.length > 0;
}
