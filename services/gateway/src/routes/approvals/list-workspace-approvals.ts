import { listWorkspaceApprovals } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listApprovalsOf } from '../../store/approvals.ts';

export const listWorkspaceApprovalsRoute = ({ database }: Context) =>
  handleWorkspace(listWorkspaceApprovals)(({ caller, query }) =>
    listApprovalsOf(database.reader, caller.workspaceId, query),
  );
