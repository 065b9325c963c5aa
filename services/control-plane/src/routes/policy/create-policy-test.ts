import { AppError } from '@countersign/contracts';
import { createPolicyTest } from '@countersign/contracts/control-plane';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { mayActivate } from '../../policy/may-activate.ts';
import { requiredTags } from '../../policy/required-tags.ts';
import { getInForce } from '../../policy/in-force.ts';
import { getDecision, keepAsTest } from '../../policy/keep-as-test.ts';
import { reserveAfterConflict } from '../../policy/reserve-after-conflict.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Tx } from '../../store/database.ts';
import { draftChanged, findDraft, writeDraft } from '../../store/policy-drafts.ts';

export const createPolicyTestRoute = (context: Context) =>
  handleWorkspace(createPolicyTest)(async ({ body: { receipt_id, name, expect }, caller, req, requestId, signal }) => {
    const { workspaceId, userId: by } = caller;
    const tags = requiredTags(req);
    const record = await getDecision(context, receipt_id, caller);
    const read = await findDraft(context.database.reader, workspaceId);
    if (read === null) throw new AppError('NOT_FOUND', 'The workspace has no policy draft. Save one first');
    const attempt = { caller, requestId };
    await reserveAfterConflict(context, attempt, async () => {
      if (!tags.includes(String(read.version))) throw draftChanged(read.version, tags);
    });
    const inForce = await getInForce(context, workspaceId);
    const kept = { text: read.text, record, name, expect };
    const { text, test, passes } = await keepAsTest(context, kept, { inForce, caller, signal });
    const write = async (tx: Tx) => {
      const now = await context.databaseNow(tx);
      // The write fails when the draft is no longer in the version that was read above.
      const base = { tags: [String(read.version)], passesHold: mayActivate(caller) };
      const version = await writeDraft(tx, { workspaceId, text, by, now, ...base });
      const act = { action: 'policy.test_kept', actor: by, verdict: 'allow', subject: record.receipt_id } as const;
      await recordAudit(tx, { scope: workspaceId, ...act, details: { version, name }, requestId }, now);
      return await findDraft(tx, workspaceId);
    };
    const draft = await reserveAfterConflict(context, attempt, () => context.transaction(write));
    if (draft === null) throw new Error('The draft is missing after it was written');
    return answer(201, { draft, test, passes }, etag(String(draft.version)));
  });
