import type { IncomingMessage } from 'node:http';
import { AppError, type SignInId } from '@countersign/contracts';
import { ticketProtocolPrefix } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { hashOf } from '../sessions/tokens.ts';
import { findTicket, removeTicket } from '../store/tickets.ts';

/**
 * Consumes the ticket of a handshake (attacker-controlled), which is sent as one of the offered protocols. A ticket of
 * another session stays valid for that session. Throws CREDENTIALS_INVALID.
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
  throw new AppError(
    'CREDENTIALS_INVALID',
    'The ticket is not valid for a socket of this session. Request a new ticket',
  );
}
