import type { IncomingMessage } from 'node:http';
import { callerClient } from './caller-client.ts';
import { accessCookieOf, type Transport } from './cookies.ts';
import type { Opener } from './open-session.ts';
import { hashOf } from './tokens.ts';

type Input = { req: Pick<IncomingMessage, 'headers'>; clientAddress: string; requestId: string };

/** The opener of a browser session. The current session of the browser is replaced. */
export function openerOf({ req, clientAddress: address, requestId }: Input, transport: Transport): Opener {
  const before = accessCookieOf(req.headers.cookie, transport);
  return { client: callerClient(req), address, requestId, replacesHash: before === null ? null : hashOf(before) };
}
