import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, UserId } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/routes';
import type { Asserted } from '@countersign/service-kit';
import { cutWhenOver } from '../console/cut-when-over.ts';
import type { Context } from '../context.ts';
import { assertedKey, assertedPerson } from '../governance/asserted.ts';
import type { AgentCaller, WorkspaceCaller } from '../guards.ts';
import { deliverMembers, forgetDelivered } from '../members/deliver-members.ts';
import { holdToSettings } from '../settings/hold-to-settings.ts';
import type { Forward } from './forwarder.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

type Deps = Pick<
  Context,
  | 'log'
  | 'database'
  | 'kernel'
  | 'assertions'
  | 'sessionWatch'
  | 'knownCredentials'
  | 'deliveredMembers'
  | 'now'
  | 'transaction'
>;
type Proving = Pick<Context, 'database' | 'kernel' | 'assertions' | 'knownCredentials' | 'now' | 'transaction'>;
type Signing = Pick<Context, 'assertions'>;

type Call = {
  caller: AgentCaller | WorkspaceCaller;
  req: IncomingMessage;
  res: ServerResponse;
  requestId: string;
  traceparent: string;
  clientAddress: string;
  signal: AbortSignal;
};

/** Forwards a call to the kernel with proof of its caller. */
export async function forwardCall(
  context: Deps,
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call,
  { forward, row: { route, needsSettings = false } }: { forward: Forward; row: Forwarding },
): Promise<void> {
  if (!('kind' in caller) && req.method !== 'GET') await deliverMembers(context, caller);
  const credential = await credentialFor(context, caller, { clientAddress, signal, needsSettings });
  const stated = { authorization: `Bearer ${credential}`, requestId, traceparent };
  const done = new AbortController();
  const over = cutWhenOver(context, caller, done.signal);
  await forward({
    req,
    res,
    headers: forwardedHeaders(req.headers, stated),
    bodyBytesMax: route.bodyBytesMax,
    signal: AbortSignal.any([signal, over]),
    answered: (status) => {
      if (!('kind' in caller)) {
        if (status === 503) forgetDelivered(context, caller);
      } else if (caller.kind === 'agent') context.knownCredentials.learn(caller.credential, status !== 401);
    },
  }).finally(() => done.abort());
}

/** The kernel verifies the credentials of agents itself. For other callers, the gateway asserts who calls. */
async function credentialFor(
  context: Proving,
  caller: Call['caller'],
  { clientAddress, signal, needsSettings }: Pick<Call, 'clientAddress' | 'signal'> & { needsSettings: boolean },
): Promise<string> {
  if (!('kind' in caller)) {
    if (needsSettings) await holdToSettings(context, caller.workspaceId, signal);
    return assertionOf(context, caller);
  }
  if (caller.kind === 'agent') {
    await context.knownCredentials.admit(caller.credential, clientAddress);
    return caller.credential;
  }
  const { membership, user } = caller.key;
  const { workspaceId } = membership;
  await holdToSettings(context, workspaceId, signal);
  return signed(context, assertedKey({ workspaceId, principal: caller.actor, sponsor: user.id }));
}

/** To the kernel an API key is an agent, whatever its role in the gateway. */
function assertionOf(context: Signing, caller: WorkspaceCaller): Promise<string> {
  const { workspaceId, actor, user, role, membersVersion } = caller;
  return signed(
    context,
    UserId.safeParse(actor).success
      ? assertedPerson({ workspaceId, userId: user.id, role, membersVersion })
      : assertedKey({ workspaceId, principal: actor, sponsor: user.id }),
  );
}

function signed({ assertions }: Signing, asserted: Asserted): Promise<string> {
  if (assertions === null)
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'This gateway has no kernel. Ask its operator to configure one');
  return assertions.sign(asserted);
}
