import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, fromThisMachineHeader, PrincipalId, speakingHeaders } from '@countersign/contracts';
import { ApiKeyRole } from '@countersign/contracts/gateway';
import type { Forwarding } from '@countersign/contracts/routes';
import type { Asserted, AssertedKey, AssertedPerson, AssertionSigner, PersonAudience } from '@countersign/service-kit';
import { presenceOf } from '../console/presence-of.ts';
import type { Context } from '../context.ts';
import type { ConsoleCaller, PersonCaller, WorkspaceCaller } from '../guards.ts';
import { mayBeShownCode } from '../identity/shows-code.ts';
import { assertedKey, assertedPerson } from '../governance/asserted.ts';
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

/** Forwards a call to another service, as the person who is signed in or as an API key, with the caller's address. */
export async function forwardAsPerson(
  context: Speaking & Parameters<typeof deliverMembers>[0],
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call,
  { forward, row, to }: { forward: Forward; row: Forwarding; to: PersonAudience },
): Promise<void> {
  const { route, delegates, passesBearer } = row;
  const { cookie, authorization } = req.headers;
  if (caller !== undefined && 'workspaceId' in caller && req.method !== 'GET') await deliverMembers(context, caller);
  await forward({
    req,
    res,
    headers: {
      ...forwardedHeaders(req.headers, { requestId, traceparent, passes: route.forward?.passes ?? [] }),
      ...(caller === undefined ? {} : await assertionsFor(context, caller, { to, delegates })),
      ...(passesBearer && authorization !== undefined ? { authorization } : {}),
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
      ...(await assertionsFor(context, caller, { to: 'control-plane', delegates: true })),
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

/** `delegates`: the service may also ask the gateway as the caller. */
type Address = { to: PersonAudience; delegates: boolean };

/** Identifies the caller to the service. The control plane may also ask the kernel as the caller in a workspace. */
async function assertionsFor(
  { assertions, database }: Speaking,
  caller: PersonCaller | WorkspaceCaller,
  { to, delegates }: Address,
): Promise<Record<string, string>> {
  if (assertions === null) throw new Error('A service is configured without the key that signs assertions');
  requireOnward(caller, to);
  if ('key' in caller) return keyAssertions(assertions, caller, { to, delegates });
  const { sessionId, provenAt } = await presenceOf(database.reader, caller);
  const auth_time = Math.floor(provenAt.getTime() / 1_000);
  const person = { sub: caller.user.id, sid: sessionId, auth_time, ...placeOf(caller) };
  const authorization = `Bearer ${await assertions.signPerson(person, to)}`;
  return {
    authorization,
    ...(delegates ? { [speakingHeaders.gateway]: await assertions.signDelegation(person, to) } : {}),
    ...(to === 'control-plane' && 'workspaceId' in caller
      ? { [speakingHeaders.kernel]: await assertions.sign(atKernel(caller)) }
      : {}),
  };
}

/**
 * A service that asks by a delegation would renew the delegation if it reached itself, so it never does. The commercial gateway alone reaches
 * the control plane: its basic API shows objects of the control plane. Throws PERMISSION_DENIED.
 */
function requireOnward(caller: PersonCaller | WorkspaceCaller, to: PersonAudience): void {
  const service = serviceFor(caller);
  if (service === null || (service === 'commercial-gateway' && to === 'control-plane')) return;
  throw new AppError('PERMISSION_DENIED', 'A service does not reach this route on behalf of a caller');
}

function serviceFor(caller: PersonCaller | WorkspaceCaller): PersonAudience | null {
  if ('delegated' in caller) return caller.delegated.service;
  return 'key' in caller ? caller.service : null;
}

type KeyInWorkspace = Extract<WorkspaceCaller, { key: unknown }>;

async function keyAssertions(
  assertions: AssertionSigner,
  { actor, user, key, workspaceId, role }: KeyInWorkspace,
  { to, delegates }: Address,
): Promise<Record<string, string>> {
  const asserted: AssertedKey = {
    sub: PrincipalId.parse(actor),
    sponsor: user.id,
    workspace_id: workspaceId,
    role: ApiKeyRole.parse(role),
    scopes: key.scopes,
  };
  const atKernelOfKey = () => assertions.sign(assertedKey({ workspaceId, principal: actor, sponsor: user.id }));
  return {
    authorization: `Bearer ${await assertions.signKey(asserted, to)}`,
    ...(delegates ? { [speakingHeaders.gateway]: await assertions.signKeyDelegation(asserted, to) } : {}),
    ...(to === 'control-plane' ? { [speakingHeaders.kernel]: await atKernelOfKey() } : {}),
  };
}

function placeOf(caller: PersonCaller | WorkspaceCaller): Pick<AssertedPerson, 'workspace_id' | 'role'> {
  return 'workspaceId' in caller ? { workspace_id: caller.workspaceId, role: caller.role } : {};
}

function atKernel({ user, workspaceId, role, membersVersion }: WorkspaceCaller): Asserted {
  return assertedPerson({ workspaceId, userId: user.id, role, membersVersion });
}
