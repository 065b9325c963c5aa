import { putWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { holdRole } from '../../members/hold-role.ts';
import { recordAudit } from '../../store/audit.ts';
import { findWorkspace, setName } from '../../store/workspaces.ts';
import { refuseStale } from '../../workspaces/refuse-stale.ts';
import { workspaceEtag } from '../../workspaces/workspace-etag.ts';

export const putWorkspaceRoute = (context: Context) =>
  handleWorkspace(putWorkspace)(async ({ body: { name }, caller, req, requestId, setHeader }) => {
    const { workspaceId, actor } = caller;
    const workspace = await context.transaction(async (tx) => {
      await holdRole(tx, caller, 'owner');
      const before = await findWorkspace(tx, workspaceId);
      if (before === null) throw notFound();
      refuseStale(req, {
        current: workspaceEtag(before),
        message: 'The workspace changed after you read it. Read it again',
      });
      if (before.name === name) return before;
      const now = context.now();
      await setName(tx, workspaceId, name, now);
      const event = { workspaceId, action: 'workspace.renamed', actor, requestId } as const;
      const details = { before: before.name, name };
      await recordAudit(tx, { ...event, verdict: 'allow', subject: workspaceId, details }, now);
      return (await findWorkspace(tx, workspaceId)) ?? before;
    });
    setHeader('ETag', workspaceEtag(workspace));
    return workspace;
  });
