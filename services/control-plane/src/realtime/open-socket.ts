import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import { socketProtocols } from '@countersign/contracts/control-plane';
import { takenOver, upgradeOf } from '@countersign/service-kit';
import { WebSocketServer } from 'ws';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { requireSession } from '../sessions/require-session.ts';
import type { SeatKind } from './seat.ts';
import { spendTicket } from './spend-ticket.ts';

/** Pages send no messages, so a small limit is enough. */
const receivedBytesMax = 1_024;

type Asking = { req: IncomingMessage; caller: PersonCaller; signal: AbortSignal };

/** Opens sockets of one kind. A refused caller gets an HTTP answer before the upgrade. */
export function openSocket(
  context: Pick<Context, 'database' | 'socketRoom' | 'now' | 'transaction'>,
  kind: SeatKind,
): (asking: Asking) => Promise<typeof takenOver> {
  const protocol = socketProtocols[kind];
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: receivedBytesMax,
    perMessageDeflate: false,
    handleProtocols: () => protocol,
  });
  return async ({ req, caller, signal }) => {
    const { socket, head } = upgradeOf(req);
    const { id: sessionId } = await requireSession(context, caller);
    const opens = await spendTicket(context, req, sessionId);
    if (!offers(req, protocol))
      throw new AppError(
        'INVALID_REQUEST',
        `This address accepts only the WebSocket protocol ${protocol}. Send it in Sec-WebSocket-Protocol`,
        { param: 'Sec-WebSocket-Protocol' },
      );
    const occupant = { kind, sessionId, ...opens };
    context.socketRoom.requireRoom(occupant);
    server.handleUpgrade(req, socket, head, (opened) => context.socketRoom.seat(opened, occupant, signal));
    return takenOver;
  };
}

function offers({ headers }: Pick<IncomingMessage, 'headers'>, protocol: string): boolean {
  return (headers['sec-websocket-protocol'] ?? '').split(',').some((name) => name.trim() === protocol);
}
