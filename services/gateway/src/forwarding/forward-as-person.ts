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
  /** `undefined` on a public route, or on a route that the refresh cookie of the browser authenticates. */
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

/** Forwards a socket like `forwardAsPerson`, and closes it when the session of the browser ends. */
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

/** Whether the service receives the cookies of the browser. On other routes, the assertion replaces them. */
function seesCookies({ provenBy, takesCookies }: Forwarding['route']): boolean {
  return provenBy === 'refresh_cookie' || takesCookies === true;
}

/** `delegates`: the service may also call the gateway on behalf of the caller. */
type Address = { to: PersonAudience; delegates: boolean };

/**
 * Identifies the caller to the service. The control plane may also call the kernel on behalf of the caller in a
 * workspace.
 */
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
 * A service that calls with a delegation must not reach itself, since that would renew the delegation. Only the
 * commercial gateway may reach the control plane, because its basic API shows objects of the control plane. Throws
 * PERMISSION_DENIED.
 */
function requireOnward(caller: PersonCaller | WorkspaceCaller, to: PersonAudience): void {
  const service = serviceFor(caller);
  if (service === null || (service === 'commercial-gateway' && to === 'control-plane')) return;
  throw new AppError('PERMISSION_DENIED', 'Services cannot use this route on behalf of a caller');
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
