import { AppError } from '@countersign/contracts';
import { createWhatIf, type WhatIfJob } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleOnce } from '../handle-once.ts';
import { newWhatIfId } from '../ids.ts';
import { parseDraft } from '../policy/parse-draft.ts';
import { findDraft } from '../store/policy-drafts.ts';
import { findJob, insertJob } from '../store/what-if-jobs.ts';

export const createWhatIfRoute = (context: Context) =>
  handleOnce(context)(createWhatIf)(async ({ body, caller: { workspaceId, userId } }, once) => {
    const { policy_hash: policyHash, from = null, to = null, limit: decisionsMax } = body;
    const draft = await findDraft(context.database.reader, workspaceId);
    if (draft?.policy_hash !== policyHash)
      throw new AppError('ILLEGAL_TRANSITION', 'The draft was not compiled to this policy', {
        param: 'policy_hash',
        details: { policy_hash: draft?.policy_hash ?? null },
      });
    const id = newWhatIfId();
    const bundle = JSON.stringify(parseDraft(draft.text));
    const question = { policyHash, bundle, from, to, decisionsMax };
    const job = await once(show)(async (tx) => {
      await insertJob(tx, { id, workspaceId, ...question, askedBy: userId, createdAt: context.now() });
      const written = await findJob(tx, workspaceId, id);
      if (written === null) throw new Error('the job was just written');
      return written;
    });
    return show(job);
  });

const show = (body: WhatIfJob) => ({ status: createWhatIf.status, body });
