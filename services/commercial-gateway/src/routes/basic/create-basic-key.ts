import { createBasicKey } from '@countersign/contracts/commercial-gateway';
import { createApiKey } from '@countersign/contracts/gateway';
import { answerAsCaller } from '../../basic/answer-as-caller.ts';
import { requireEnvironment } from '../../basic/create-environment.ts';
import { keyView } from '../../basic/key-view.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createBasicKeyRoute = (context: Pick<Context, 'asCaller' | 'database'>) =>
  handleWorkspace(createBasicKey)(async ({ body: { expires_in_days: expiresInDays, ...request }, caller }) => {
    const { delegation, workspaceId } = caller;
    if (request.environment !== undefined) await requireEnvironment(context, caller, request.environment);
    const client = context.asCaller(delegation, { createApiKey });
    const body = { ...request, workspaceId, expiresInDays };
    const { key, ...made } = (await answerAsCaller(() => client.createApiKey({ body }))).body;
    return { ...keyView(made), key };
  });
