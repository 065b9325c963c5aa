import { revokeApiKey } from '@countersign/contracts/gateway';
import { reachOf } from '../../api-keys/reach.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { endApiKey } from '../../store/api-keys.ts';
import { recordAudit } from '../../store/audit.ts';

export const revokeApiKeyRoute = (context: Context) =>
  handleWorkspace(revokeApiKey)(async ({ params: { id }, caller, requestId }) => {
    const { workspaceId, actor } = caller;
    await context.transaction(async (tx) => {
      const now = context.now();
      if (!(await endApiKey(tx, reachOf(caller), id, now))) throw notFound();
      const event = { workspaceId, action: 'api_key.revoked', actor, verdict: 'allow', requestId } as const;
      await recordAudit(tx, { ...event, subject: id }, now);
    });
    return { ok: true as const };
  });
