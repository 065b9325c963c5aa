import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, keyPrincipal, PrincipalId, TenantId } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import type { AgentCaller } from '../guards.ts';
import { putSettingsThrough } from '../orchestrator/put-settings-through.ts';
import type { StoredApiKey } from '../store/api-keys.ts';
import { getSettings } from '../store/workspaces.ts';
import type { Forward } from './forwarder.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

type Call = {
  caller: AgentCaller;
  req: IncomingMessage;
  res: ServerResponse;
  requestId: string;
  traceparent: string;
  clientAddress: string;
  signal: AbortSignal;
};

/** Passes the call of an agent on to the kernel, which judges it. */
export async function forwardCall(
  context: Context,
  { caller, req, res, requestId, traceparent, clientAddress, signal }: Call,
  { forward, route }: { forward: Forward; route: Forwarding['route'] },
): Promise<void> {
  const credential = await credentialFor(context, caller, { clientAddress, signal });
  const said = { authorization: `Bearer ${credential}`, requestId, traceparent };
  await forward({
    req,
    res,
    headers: forwardedHeaders(req.headers, said),
    bodyBytesMax: route.bodyBytesMax,
    answered: (status) => {
      if (caller.kind === 'agent') context.knownCredentials.learn(caller.credential, status !== 401);
    },
  });
}

type Asking = Pick<Call, 'clientAddress' | 'signal'>;

/** An agent's own credential is the kernel's to judge; for a key of a workspace the gateway says who calls. */
async function credentialFor(
  context: Context,
  caller: AgentCaller,
  { clientAddress, signal }: Asking,
): Promise<string> {
  if (caller.kind === 'agent') {
    await context.knownCredentials.admit(caller.credential, clientAddress);
    return caller.credential;
  }
  await holdToSettings(context, caller.key, signal);
  return assertionOf(context, caller.key);
}

/** What the workspace blocks, and what it may spend, holds for its keys as it does for its runs. */
async function holdToSettings(context: Context, { membership }: StoredApiKey, signal: AbortSignal): Promise<void> {
  const { workspaceId } = membership;
  const { settings, version: settingsVersion } = await getSettings(context.database.reader, workspaceId);
  await putSettingsThrough(context, { workspaceId }, { settings, settingsVersion }, signal).catch((cause: unknown) => {
    if (!(cause instanceof KernelError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not hold to the settings of the workspace', {
      cause,
    });
  });
}

function assertionOf({ assertions }: Context, { id, membership: { workspaceId } }: StoredApiKey): Promise<string> {
  if (assertions === null) throw new AppError('GOVERNANCE_UNAVAILABLE', 'No kernel is configured');
  const sub = PrincipalId.parse(keyPrincipal(id));
  return assertions.sign({ workspace_id: TenantId.parse(workspaceId), sub, role: 'agent' });
}
