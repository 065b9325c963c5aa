import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromThisMachineHeader, speakingHeaders } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/routes';
import type { Asserted, AssertedPerson, PersonAudience } from '@countersign/service-kit';
import { presenceOf } from '../console/presence-of.ts';
import type { Context } from '../context.ts';
import type { ConsoleCaller, PersonCaller, WorkspaceCaller } from '../guards.ts';
import { mayBeShownCode } from '../identity/shows-code.ts';
import { assertedPerson } from '../governance/asserted.ts';
import { deliverMembers, forgetDelivered } from '../members/deliver-members.ts';
import type { Forward } from './forwarder.ts';
import type { ForwardSocket } from './forward-socket.ts';
import { cutWhenOver } from '../console/cut-when-over.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

type Call = {
  /** Undefined: a route that everybody may ask, or one that the browser's refresh cookie opens there. */
  caller: PersonCaller | WorkspaceCaller | undefined;
  req: IncomingMessage;
  res: ServerResponse;
  requestId: string;
  traceparent: string;
  clientAddress: string;
  signal: AbortSignal;
};

type Speaking = Pick<Context, 'assertions' | 'database'>;

/** Forwards a call to another service, as the person who is signed in, with the caller's address. */
export async function forwardAsPerson(
  context: Speaking & Parameters<typeof deliverMembers>[0],
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call,
  { forward, route, to }: { forward: Forward; route: Forwarding['route']; to: PersonAudience },
): Promise<void> {
  const { cookie } = req.headers;
  if (caller !== undefined && 'workspaceId' in caller && req.method !== 'GET') await deliverMembers(context, caller);
  await forward({
    req,
    res,
    headers: {
      ...forwardedHeaders(req.headers, { requestId, traceparent, passes: route.forward?.passes ?? [] }),
      ...(caller === undefined ? {} : await assertionsFor(context, caller, to)),
      ...(seesCookies(route) && cookie !== undefined ? { cookie } : {}),
      ...(mayBeShownCode(req) ? { [fromThisMachineHeader]: '1' } : {}),
      'x-forwarded-for': clientAddress,
    },
    bodyBytesMax: route.bodyBytesMax,
    signal,
    answered: (status) => {
      if (status === 503 && caller !== undefined && 'workspaceId' in caller) forgetDelivered(context, caller);
    },
  });
}

/** The same for a socket, which is cut when the session of its browser is over. */
export async function forwardSocketAsPerson(
  context: Speaking & Pick<Context, 'sessionWatch'>,
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call & { caller: ConsoleCaller },
  forward: ForwardSocket,
): Promise<void> {
  const done = new AbortController();
  await forward({
    req,
    res,
    headers: {
      ...forwardedHeaders(req.headers, { requestId, traceparent }),
      ...(await assertionsFor(context, caller, 'control-plane')),
      'x-forwarded-for': clientAddress,
    },
    signal,
    over: cutWhenOver(context, caller, done.signal),
  }).finally(() => done.abort());
}

/** Everywhere else the cookie ends at this door: what it proves, the assertion says. */
function seesCookies({ provenBy, takesCookies }: Forwarding['route']): boolean {
  return provenBy === 'refresh_cookie' || takesCookies === true;
}

/** Identifies the caller to the service. The control plane may also ask the gateway as the caller, and in a workspace the kernel. */
async function assertionsFor(
  { assertions, database }: Speaking,
  caller: PersonCaller | WorkspaceCaller,
  to: PersonAudience,
): Promise<Record<string, string>> {
  if (assertions === null) throw new Error('A service is configured without the key that signs assertions');
  const { sessionId, provenAt } = await presenceOf(database.reader, caller);
  const auth_time = Math.floor(provenAt.getTime() / 1_000);
  const person = { sub: caller.user.id, sid: sessionId, auth_time, ...placeOf(caller) };
  const authorization = `Bearer ${await assertions.signPerson(person, to)}`;
  if (to !== 'control-plane') return { authorization };
  return {
    authorization,
    [speakingHeaders.gateway]: await assertions.signDelegation(person),
    ...('workspaceId' in caller ? { [speakingHeaders.kernel]: await assertions.sign(atKernel(caller)) } : {}),
  };
}

function placeOf(caller: PersonCaller | WorkspaceCaller): Pick<AssertedPerson, 'workspace_id' | 'role'> {
  return 'workspaceId' in caller ? { workspace_id: caller.workspaceId, role: caller.role } : {};
}

function atKernel({ user, workspaceId, role, membersVersion }: WorkspaceCaller): Asserted {
  return assertedPerson({ workspaceId, userId: user.id, role, membersVersion });
}
