import { listBasicKeys } from '@countersign/contracts/commercial-gateway';
import { listApiKeys } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import { keyView } from '../../basic/key-view.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicKeysRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicKeys)(async ({ query, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { listApiKeys });
    const headers = headersOf({ req, idempotency }, caller);
    const { body } = await answerAsCaller(() => client.listApiKeys({ query, headers }));
    return { data: body.data.map(keyView), next_cursor: body.nextCursor };
  });
