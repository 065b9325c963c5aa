import { DecisionId } from '@countersign/contracts';
import { getGovernanceReceipt } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { findReceipt } from '../../store/receipts.ts';

export const getGovernanceReceiptRoute = ({ database }: Context) =>
  handleWorkspace(getGovernanceReceipt)(async ({ params, caller }) => {
    const decisionId = DecisionId.safeParse(params.decisionId);
    const receipt = decisionId.success ? await findReceipt(database.reader, caller.workspaceId, decisionId.data) : null;
    if (receipt === null) throw notFound();
    return receipt;
  });
