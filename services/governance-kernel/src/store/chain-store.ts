import type { Digest, SessionId, TenantId } from '@countersign/contracts';
import type { Reader } from './database.ts';

type ChainScope = { tenant: TenantId; session: SessionId };

/** Where a chain ends now; null where nothing was sealed in the session. */
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

/** A link of a chain in the texts that were sealed: nothing is read and written again on its way to a verifier. */
export type ChainLink = {
  logIndex: number;
  lamport: number;
  payload: string;
  keyId: string;
  signature: string;
  record: string | null;
};

/** One session's chain in its own order, between two places in it, both included. */
export async function listChain(
  reader: Reader,
  { tenant, session }: ChainScope,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<ChainLink[]> {
  const rows = await reader.ledgerEntry.findMany({
    where: { tenant_id: tenant, session_id: session, lamport_clock: { gte: from, lte: to } },
    orderBy: { lamport_clock: 'asc' },
    take: limit,
    select: { log_index: true, lamport_clock: true, payload: true, key_id: true, signature: true, record: true },
  });
  return rows.map(({ log_index, lamport_clock, key_id, ...row }) => ({
    ...row,
    logIndex: Number(log_index),
    lamport: Number(lamport_clock),
    keyId: key_id,
  }));
}
