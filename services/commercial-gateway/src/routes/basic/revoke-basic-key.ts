import { revokeBasicKey } from '@countersign/contracts/commercial-gateway';
import { revokeApiKey } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const revokeBasicKeyRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(revokeBasicKey)(async ({ params: { key_id: id }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { revokeApiKey });
    const headers = headersOf({ req, idempotency }, caller);
    await answerAsCaller(() => client.revokeApiKey({ params: { id }, headers }));
    return { revoked: true as const };
  });
