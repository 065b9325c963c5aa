import { putPolicyDraft } from '@countersign/contracts/control-plane';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { mayActivate } from '../../policy/may-activate.ts';
import { requiredTags } from '../../policy/required-tags.ts';
import { reserveAfterConflict } from '../../policy/reserve-after-conflict.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Tx } from '../../store/database.ts';
import { findDraft, writeDraft } from '../../store/policy-drafts.ts';

export const putPolicyDraftRoute = (context: Context) =>
  handleWorkspace(putPolicyDraft)(async ({ body: { text }, caller, req, requestId }) => {
    const { workspaceId, userId } = caller;
    const tags = requiredTags(req);
    const write = async (tx: Tx) => {
      const now = await context.databaseNow(tx);
      const passesHold = mayActivate(caller);
      const version = await writeDraft(tx, { workspaceId, text, by: userId, now, tags, passesHold });
      const act = { action: 'policy.draft_written', actor: userId, verdict: 'allow' } as const;
      await recordAudit(tx, { scope: workspaceId, ...act, details: { version }, requestId }, now);
      return await findDraft(tx, workspaceId);
    };
    const draft = await reserveAfterConflict(context, { caller, requestId }, () => context.transaction(write));
    if (draft === null) throw new Error('The draft is missing after it was written');
    return answer(200, draft, etag(String(draft.version)));
  });
