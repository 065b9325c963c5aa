import { listBasicApprovals } from '@countersign/contracts/commercial-gateway';
import { listInboxApprovals } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicApprovalsRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicApprovals)(({ query, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { listInboxApprovals });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.listInboxApprovals({ params: { id: caller.workspaceId }, query, headers }));
  });
