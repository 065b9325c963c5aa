import { getWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { findWorkspace } from '../../store/workspaces.ts';
import { workspaceEtag } from '../../workspaces/workspace-etag.ts';

export const getWorkspaceRoute = ({ database }: Context) =>
  handleWorkspace(getWorkspace)(async ({ caller, setHeader }) => {
    const workspace = await findWorkspace(database.reader, caller.workspaceId);
    if (workspace === null) throw notFound();
    setHeader('ETag', workspaceEtag(workspace));
    return workspace;
  });
