import { putWorkspaceMode } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { recordAudit } from '../../store/audit.ts';
import { setMode } from '../../store/workspaces.ts';
import { holdRole } from '../../members/hold-role.ts';

export const putWorkspaceModeRoute = (context: Context) =>
  handleWorkspace(putWorkspaceMode)(async ({ body: { mode }, caller, requestId }) => {
    const { workspaceId, actor } = caller;
    await context.transaction(async (tx) => {
      await holdRole(tx, caller, 'owner');
      const now = context.now();
      await setMode(tx, workspaceId, mode, now);
      const event = { workspaceId, action: 'workspace.mode_changed', actor, requestId } as const;
      await recordAudit(tx, { ...event, verdict: 'allow', subject: workspaceId, details: { mode } }, now);
    });
    return { id: workspaceId, mode };
  });
