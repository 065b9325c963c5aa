import { WorkspaceId, type SignInId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';
import type { Place } from './hints.ts';

/** `place`: how far was told when it was judged who may have the ticket. */
type Opens = { workspaceId: WorkspaceId; place: Place };
type Ticket = Opens & { hash: string; sessionId: SignInId; expiresAt: Date };

export async function insertTicket(tx: Tx, { place, ...ticket }: Ticket): Promise<void> {
  await tx.ticket.create({ data: { ...ticket, ownSeq: place.own, allSeq: place.all } });
}

/** The seat that a ticket of this session opens, while it can be used. */
export async function findTicket(
  reader: Reader,
  { hash, sessionId }: Pick<Ticket, 'hash' | 'sessionId'>,
  now: Date,
): Promise<Opens | null> {
  const row = await reader.ticket.findUnique({ where: { hash, sessionId, expiresAt: { gt: now } } });
  if (row === null) return null;
  return { workspaceId: WorkspaceId.parse(row.workspaceId), place: { own: row.ownSeq, all: row.allSeq } };
}

/** True for the one who used it. */
export async function removeTicket(tx: Tx, hash: string): Promise<boolean> {
  return (await tx.ticket.deleteMany({ where: { hash } })).count === 1;
}

/** Removes tickets that were not used in time. */
export async function forgetTickets(tx: Tx, now: Date): Promise<void> {
  await tx.ticket.deleteMany({ where: { expiresAt: { lt: now } } });
}
