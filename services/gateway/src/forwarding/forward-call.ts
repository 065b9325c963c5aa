import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, UserId } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/routes';
import type { Asserted } from '@countersign/service-kit';
import { cutWhenOver } from '../console/cut-when-over.ts';
import type { Context } from '../context.ts';
import { assertedKey, assertedPerson } from '../governance/asserted.ts';
import type { AgentCaller, WorkspaceCaller } from '../guards.ts';
import { deliverMembers, forgetDelivered } from '../members/deliver-members.ts';
import { holdToSettings } from '../orchestrator/hold-to-settings.ts';
import type { Forward } from './forwarder.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

type Call = {
  caller: AgentCaller | WorkspaceCaller;
  req: IncomingMessage;
  res: ServerResponse;
  requestId: string;
  traceparent: string;
  clientAddress: string;
  signal: AbortSignal;
};

/** Passes a call on to the kernel, as the caller whom it proves. */
export async function forwardCall(
  context: Context,
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call,
  { forward, row: { route, needsSettings = false } }: { forward: Forward; row: Forwarding },
): Promise<void> {
  if (!('kind' in caller) && req.method !== 'GET') await deliverMembers(context, caller);
  const credential = await credentialFor(context, caller, { clientAddress, signal, needsSettings });
  const said = { authorization: `Bearer ${credential}`, requestId, traceparent };
  const done = new AbortController();
  const over = cutWhenOver(context, caller, done.signal);
  await forward({
    req,
    res,
    headers: forwardedHeaders(req.headers, said),
    bodyBytesMax: route.bodyBytesMax,
    signal: AbortSignal.any([signal, over]),
    answered: (status) => {
      if (!('kind' in caller)) {
        if (status === 503) forgetDelivered(context, caller);
      } else if (caller.kind === 'agent') context.knownCredentials.learn(caller.credential, status !== 401);
    },
  }).finally(() => done.abort());
}

/** An agent's own credential is the kernel's to judge; for everybody else the gateway says who calls. */
async function credentialFor(
  context: Context,
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

/** A key is an agent to the kernel, whatever it may do here. */
function assertionOf(context: Context, caller: WorkspaceCaller): Promise<string> {
  const { workspaceId, actor, user, role, membersVersion } = caller;
  return signed(
    context,
    UserId.safeParse(actor).success
      ? assertedPerson({ workspaceId, userId: user.id, role, membersVersion })
      : assertedKey({ workspaceId, principal: actor, sponsor: user.id }),
  );
}

function signed({ assertions }: Context, asserted: Asserted): Promise<string> {
  if (assertions === null) throw new AppError('GOVERNANCE_UNAVAILABLE', 'No kernel is configured');
  return assertions.sign(asserted);
}
