import { Digest, SessionId } from '@countersign/contracts';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { WholeNumber } from './whole-number.ts';

/** A link of a chain with its sealed texts, which are sent to verifiers unchanged. */
export type ChainLink = {
  session: SessionId;
  logIndex: number;
  lamport: number;
  receiptHash: Digest;
  payload: string;
  keyId: string;
  signature: string;
  record: string | null;
};

const LinkRow = z.object({
  session_id: SessionId,
  log_index: WholeNumber,
  lamport_clock: WholeNumber,
  receipt_hash: Digest,
  payload: z.string(),
  key_id: z.string(),
  signature: z.string(),
  record: z.string().nullable(),
});

/** The columns of a link, for queries through Prisma. */
export const linkColumns = {
  session_id: true,
  log_index: true,
  lamport_clock: true,
  receipt_hash: true,
  payload: true,
  key_id: true,
  signature: true,
  record: true,
} as const satisfies Record<keyof z.input<typeof LinkRow>, true>;

/** The same columns, for SQL. */
export const linkColumnsSql = Sql.raw(Object.keys(linkColumns).join(', '));

export function linkOf(row: unknown): ChainLink {
  const { session_id, log_index, lamport_clock, receipt_hash, key_id, ...texts } = LinkRow.parse(row);
  return {
    ...texts,
    session: session_id,
    logIndex: log_index,
    lamport: lamport_clock,
    receiptHash: receipt_hash,
    keyId: key_id,
  };
}
