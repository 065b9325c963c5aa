import { createWhatIf, type WhatIfJob } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleOnce } from '../../handle-once.ts';
import { newWhatIfId } from '../../ids.ts';
import { mayActivate } from '../../policy/may-activate.ts';
import { parseDraft } from '../../policy/parse-draft.ts';
import { reserveAfterConflict } from '../../policy/reserve-after-conflict.ts';
import { requestReport, requireCompiledTo } from '../../policy/request-report.ts';
import { findDraft } from '../../store/policy-drafts.ts';

export const createWhatIfRoute = (context: Context) =>
  handleOnce(context)(createWhatIf)(async ({ body, caller, requestId }, once) => {
    const { workspaceId, userId: askedBy } = caller;
    const { policy_hash: policyHash, from = null, to = null, limit: decisionsMax } = body;
    const job = await reserveAfterConflict(context, { caller, requestId }, async () => {
      const draft = requireCompiledTo(policyHash, await findDraft(context.database.reader, workspaceId));
      const bundle = JSON.stringify(parseDraft(draft.text));
      const question = { policyHash, bundle, from, to, decisionsMax };
      const request = { id: newWhatIfId(), workspaceId, ...question, askedBy, holdsDraft: mayActivate(caller) };
      return await once(show)(async (tx) => requestReport(tx, request, await context.databaseNow(tx)));
    });
    return show(job);
  });

const show = (body: WhatIfJob) => ({ status: createWhatIf.status, body });
