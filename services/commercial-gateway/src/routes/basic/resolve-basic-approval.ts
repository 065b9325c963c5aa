import { resolveBasicApproval } from '@countersign/contracts/commercial-gateway';
import { resolveApproval } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const resolveBasicApprovalRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(resolveBasicApproval)(({ params, body, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { resolveApproval });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.resolveApproval({ params: { ...params, id: caller.workspaceId }, body, headers }));
  });
