import { revokeEvidenceHandle } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { getHandle } from '../../handles/get-handle.ts';
import { notFound } from '../../not-found.ts';
import { recordAudit } from '../../store/audit.ts';
import { objectIdOf, revokeHandle } from '../../store/evidence-handles.ts';

export const revokeEvidenceHandleRoute = (context: Context) =>
  handleWorkspace(revokeEvidenceHandle)(async ({ params, caller, requestId }) => {
    const found = await getHandle(context, params.handle, caller);
    const subject = objectIdOf(found);
    const act = { action: 'evidence.handle_revoked', actor: caller.userId, verdict: 'allow', requestId } as const;
    await context.transaction(async (tx) => {
      const at = context.now();
      if (!(await revokeHandle(tx, found.id, at))) throw notFound();
      await recordAudit(tx, { scope: caller.workspaceId, ...act, subject }, at);
    });
    return { revoked: true as const };
  });
