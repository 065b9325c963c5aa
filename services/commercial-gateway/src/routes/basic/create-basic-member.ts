import { createBasicMember } from '@countersign/contracts/commercial-gateway';
import { createConsoleMember } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createBasicMemberRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(createBasicMember)(({ body, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { createConsoleMember });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.createConsoleMember({ params: { workspace_id: caller.workspaceId }, body, headers }));
  });
