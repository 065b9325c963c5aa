import { instantOf, AppError } from '@countersign/contracts';
import { createSessionTicket, ticketSeconds } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { hashOf, newTicket } from '../../sessions/tokens.ts';
import { holderOf } from '../../sessions/session-state.ts';
import { findPlace } from '../../store/hints.ts';
import { findSession } from '../../store/sessions.ts';
import { insertTicket } from '../../store/tickets.ts';

export const createSessionTicketRoute = ({ database, transaction, now }: Context) =>
  handleWorkspace(createSessionTicket)(async ({ caller: { sessionId, userId, workspaceId } }) => {
    const session = await findSession(database.reader, sessionId);
    // A sign-in by token belongs to the gateway, and its end would not be noticed here.
    if (session?.userId !== userId || holderOf(session) !== 'browser')
      throw new AppError('PERMISSION_DENIED', 'Sockets require a browser session. With a token, read GET /api/events');
    const [ticket, place] = [newTicket(), await findPlace(database.reader, workspaceId)];
    const expiresAt = new Date(now().getTime() + ticketSeconds * 1_000);
    const opens = { sessionId, workspaceId, place };
    await transaction((tx) => insertTicket(tx, { hash: hashOf(ticket), expiresAt, ...opens }));
    return { ticket, expires_at: instantOf(expiresAt) };
  });
