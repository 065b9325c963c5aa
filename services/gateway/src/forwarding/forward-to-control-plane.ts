import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, fromThisMachineHeader } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { ConsoleCaller } from '../guards.ts';
import { mayBeShownCode } from '../identity/shows-code.ts';
import type { Forward } from './forwarder.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

type Call = {
  /** Undefined: a route that everybody may ask, or one that the browser's refresh cookie opens there. */
  caller: ConsoleCaller | undefined;
  req: IncomingMessage;
  res: ServerResponse;
  requestId: string;
  traceparent: string;
  clientAddress: string;
  signal: AbortSignal;
};

/** Passes a call on to the control plane, as the person who is signed in, from the address that the caller has. */
export async function forwardToControlPlane(
  { assertions }: Pick<Context, 'assertions'>,
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call,
  { forward, route }: { forward: Forward; route: Forwarding['route'] },
): Promise<void> {
  if (assertions === null) throw new AppError('CONTROL_PLANE_UNAVAILABLE', 'No control plane is configured');
  const person =
    caller === undefined ? null : await assertions.signPerson({ sub: caller.user.id, sid: caller.console.sessionId });
  const { cookie } = req.headers;
  await forward({
    req,
    res,
    headers: {
      ...forwardedHeaders(req.headers, { requestId, traceparent }),
      ...(person === null ? {} : { authorization: `Bearer ${person}` }),
      ...(route.provenBy === 'refresh_cookie' && cookie !== undefined ? { cookie } : {}),
      ...(mayBeShownCode(req) ? { [fromThisMachineHeader]: '1' } : {}),
      'x-forwarded-for': clientAddress,
    },
    bodyBytesMax: route.bodyBytesMax,
    signal,
    answered: () => undefined,
  });
}
