import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, PrincipalId, TenantId, UserId, type AssertionRole, type WorkspaceId } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/gateway';
import { cutWhenOver } from '../console/cut-when-over.ts';
import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import type { AgentCaller, WorkspaceCaller } from '../guards.ts';
import { putSettingsThrough } from '../orchestrator/put-settings-through.ts';
import { getSettings } from '../store/workspaces.ts';
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
  { forward, route }: { forward: Forward; route: Forwarding['route'] },
): Promise<void> {
  const credential = await credentialFor(context, caller, { clientAddress, signal });
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
      if ('kind' in caller && caller.kind === 'agent')
        context.knownCredentials.learn(caller.credential, status !== 401);
    },
  }).finally(() => done.abort());
}

/** An agent's own credential is the kernel's to judge; for everybody else the gateway says who calls. */
async function credentialFor(
  context: Context,
  caller: Call['caller'],
  { clientAddress, signal }: Pick<Call, 'clientAddress' | 'signal'>,
): Promise<string> {
  if (!('kind' in caller)) return assertionOf(context, caller);
  if (caller.kind === 'agent') {
    await context.knownCredentials.admit(caller.credential, clientAddress);
    return caller.credential;
  }
  const { workspaceId } = caller.key.membership;
  await holdToSettings(context, workspaceId, signal);
  return assertionOf(context, { workspaceId, actor: caller.actor, role: 'agent' });
}

/** What the workspace blocks, and what it may spend, holds for its keys as it does for its runs. */
async function holdToSettings(context: Context, workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
  const { settings, version: settingsVersion } = await getSettings(context.database.reader, workspaceId);
  await putSettingsThrough(context, { workspaceId }, { settings, settingsVersion }, signal).catch((cause: unknown) => {
    if (!(cause instanceof KernelError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not hold to the settings of the workspace', {
      cause,
    });
  });
}

type Speaker = Pick<WorkspaceCaller, 'workspaceId' | 'actor'> & { role: AssertionRole };

/** A key is an agent to the kernel, whatever it may do here. */
function assertionOf({ assertions }: Context, { workspaceId, actor, role }: Speaker): Promise<string> {
  if (assertions === null) throw new AppError('GOVERNANCE_UNAVAILABLE', 'No kernel is configured');
  const sub = PrincipalId.parse(actor);
  const isPerson = UserId.safeParse(actor).success;
  return assertions.sign({ workspace_id: TenantId.parse(workspaceId), sub, role: isPerson ? role : 'agent' });
}
