import { DecisionId } from '@countersign/contracts';
import { getGovernanceReceipt } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound, type Handles } from '../handle.ts';
import { findReceipt } from '../store/receipts.ts';

export const getGovernanceReceiptRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(getGovernanceReceipt, async ({ params, caller }) => {
    const decisionId = DecisionId.safeParse(params.decisionId);
    const receipt = decisionId.success ? await findReceipt(database.pool, caller.workspaceId, decisionId.data) : null;
    if (receipt === null) throw notFound();
    return receipt;
  });
