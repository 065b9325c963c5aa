import type { Approval, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { KeyRing } from '@countersign/verifier';
import { findReceiptFault, type ReceiptFault } from './check-receipt.ts';
import { findApprovalOf } from './find-approval.ts';
import type { KernelClient } from './kernel-clients.ts';
import { malformed, receiptRefused, throwKernelError } from './kernel-error.ts';

export type AskedByKey = { workspaceId: string; sessionId: string; approvalId: string; principal: string };

/** The approval that the call of a key requests, and the decision that requested it. */
export type Question = { approval: Approval; receipt: StoredReceipt };

/**
 * The question that a key's call left in the kernel, with everything that is judged. Null for one that the kernel does not have. Throws KernelError,
 * RECEIPT_UNVERIFIED where no receipt proves that this key asked it.
 */
export async function findQuestion(
  client: Pick<KernelClient, 'listApprovals' | 'getReceipt'>,
  keyRing: KeyRing,
  asked: AskedByKey,
): Promise<Question | null> {
  const approval = await findApprovalOf(client, asked, ({ approval_id: id }) => id === asked.approvalId);
  if (approval === null || approval.receipt_id === null) return null;
  const params = { receipt_id: approval.receipt_id };
  const answer = await client.getReceipt({ params }).catch(throwKernelError);
  if (answer.kind === 'refused') throw malformed(`The kernel answered ${answer.status}`);
  const receipt = answer.body;
  const fault = await faultOf(keyRing, asked, { approval, receipt });
  if (fault !== null) throw receiptRefused({ receipt, fault });
  return { approval, receipt };
}

/** The receipt names its approval, so it is as old as that is. */
const notBefore = new Date(0);

async function faultOf(
  keyRing: KeyRing,
  { workspaceId: tenant, sessionId: session, principal, approvalId }: AskedByKey,
  { approval, receipt }: Question,
): Promise<ReceiptFault | null> {
  const { action, tool, resource, effect_level } = approval;
  const { payload } = receipt;
  const expected = { tenant, principal, session, action, tool, decisionId: payload.decision_id, notBefore };
  const fault = findReceiptFault(receipt, await keyRing.keys(), expected);
  if (fault !== null) return fault;
  if (payload.verdict !== 'ESCALATE' || payload.approval_id !== approvalId) return 'approval';
  return payload.resource === resource && payload.effect_level === effect_level ? null : 'subject';
}
