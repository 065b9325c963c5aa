import type { IncomingMessage } from 'node:http';
import { AppError, type SignInId } from '@countersign/contracts';
import { ticketProtocolPrefix } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { hashOf } from '../sessions/tokens.ts';
import { findTicket, removeTicket } from '../store/tickets.ts';

/**
 * The seat that a ticket opens, presented by a handshake beside its protocol (attacker-controlled). One of another
 * session stays good for that one. Throws CREDENTIALS_INVALID.
 */
export async function spendTicket(
  { database, transaction, now }: Pick<Context, 'database' | 'transaction' | 'now'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
  sessionId: SignInId,
): Promise<NonNullable<Awaited<ReturnType<typeof findTicket>>>> {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const ticket = offered.find((name) => name.startsWith(ticketProtocolPrefix))?.slice(ticketProtocolPrefix.length);
  if (ticket !== undefined) {
    const hash = hashOf(ticket);
    const opens = await findTicket(database.reader, { hash, sessionId }, now());
    if (opens !== null && (await transaction((tx) => removeTicket(tx, hash)))) return opens;
  }
  throw new AppError('CREDENTIALS_INVALID', 'The ticket is not good for a socket of this session');
}
