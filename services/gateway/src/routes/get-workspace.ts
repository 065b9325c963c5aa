import { getWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound, type Handles } from '../handle.ts';
import { findWorkspace } from '../store/workspaces.ts';

export const getWorkspaceRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(getWorkspace, async ({ caller }) => {
    const workspace = await findWorkspace(database.pool, caller.workspaceId);
    if (workspace === null) throw notFound();
    return workspace;
  });
