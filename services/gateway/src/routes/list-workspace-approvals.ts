import { listWorkspaceApprovals } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Handles } from '../handle.ts';
import { listApprovalsOf } from '../store/approvals.ts';

export const listWorkspaceApprovalsRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(listWorkspaceApprovals, ({ caller, query }) =>
    listApprovalsOf(database.pool, caller.workspaceId, query),
  );
