import { listBasicWorkspaces } from '@countersign/contracts/commercial-gateway';
import { ConsoleWorkspace, getConsoleWorkspace, listConsoleWorkspaces } from '@countersign/contracts/control-plane';
import { z } from 'zod';
import { answerAsCaller } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import type { BasicCaller } from '../../guards.ts';
import { handleBasic } from '../../handle.ts';
import { findProjectIds } from '../../store/projects.ts';

/** Removes the members that only the route of one workspace returns. */
const Listed = z.object(ConsoleWorkspace.shape);

export const listBasicWorkspacesRoute = (context: Pick<Context, 'asCaller' | 'database'>) =>
  handleBasic(listBasicWorkspaces)(async ({ query, caller }) => {
    const workspaces = await workspacesOf(context, caller);
    const owned = workspaces.flatMap(({ workspace_id: workspaceId, org_id: orgId }) =>
      orgId === null ? [] : [{ workspaceId, orgId }],
    );
    const projects = await findProjectIds(context.database.reader, owned);
    const data = workspaces
      .map((workspace) => ({ ...workspace, project_ids: projects.get(workspace.workspace_id) ?? [] }))
      .filter(({ project_ids }) => query.project_id === undefined || project_ids.includes(query.project_id));
    return { data, next_cursor: null };
  });

async function workspacesOf(
  { asCaller }: Pick<Context, 'asCaller'>,
  { delegation, workspaceId: id }: BasicCaller,
): Promise<ConsoleWorkspace[]> {
  const client = asCaller(delegation, { getConsoleWorkspace, listConsoleWorkspaces });
  if (id === null) return (await answerAsCaller(() => client.listConsoleWorkspaces())).body.data;
  return [Listed.parse((await answerAsCaller(() => client.getConsoleWorkspace({ params: { id } }))).body)];
}
