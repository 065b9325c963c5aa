import { WorkspaceId, type SignInId } from '@countersign/contracts';
import type { Reader, Tx } from './database.ts';
import type { Place } from './hints.ts';

/** `place`: the place of the hints when the rights for the ticket were checked. */
type Opens = { workspaceId: WorkspaceId; place: Place };
type Ticket = Opens & { hash: string; sessionId: SignInId; expiresAt: Date };

export async function insertTicket(tx: Tx, { place, ...ticket }: Ticket): Promise<void> {
  await tx.ticket.create({ data: { ...ticket, ownSeq: place.own, allSeq: place.all } });
}

/** The workspace that a live ticket of this session opens, and the place in its hints. */
export async function findTicket(
  reader: Reader,
  { hash, sessionId }: Pick<Ticket, 'hash' | 'sessionId'>,
  now: Date,
): Promise<Opens | null> {
  const row = await reader.ticket.findUnique({ where: { hash, sessionId, expiresAt: { gt: now } } });
  if (row === null) return null;
  return { workspaceId: WorkspaceId.parse(row.workspaceId), place: { own: row.ownSeq, all: row.allSeq } };
}

/** `true` for the one caller that consumed the ticket. */
export async function removeTicket(tx: Tx, hash: string): Promise<boolean> {
  return (await tx.ticket.deleteMany({ where: { hash } })).count === 1;
}

/** Removes tickets that were not used in time. */
export async function forgetTickets(tx: Tx, now: Date): Promise<void> {
  await tx.ticket.deleteMany({ where: { expiresAt: { lt: now } } });
}
