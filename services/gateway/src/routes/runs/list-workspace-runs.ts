import { listWorkspaceRuns } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listRunsIn } from '../../store/runs.ts';

export const listWorkspaceRunsRoute = ({ database }: Context) =>
  handleWorkspace(listWorkspaceRuns)(({ query, caller }) => listRunsIn(database.reader, caller.workspaceId, query));
