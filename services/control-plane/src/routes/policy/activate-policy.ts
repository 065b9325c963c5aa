import { activatePolicy } from '@countersign/contracts/control-plane';
import { ifMatchTags } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { activateDraft } from '../../policy/activate-draft.ts';

export const activatePolicyRoute = (context: Context) =>
  handleWorkspace(activatePolicy)(async ({ body, caller, req, requestId, signal }) => {
    const made = await activateDraft(context, { ...body, tags: ifMatchTags(req), requestId, signal }, caller);
    return {
      policy_hash: body.policy_hash,
      epoch: made.epoch,
      report_hash: made.reportHash,
      decision_id: made.decisionId,
      decision_receipt_id: made.receiptId,
      policy_receipt_id: made.policyReceiptId,
    };
  });
