import type { Approval, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { findReceiptFault, type ReceiptFault } from './check-receipt.ts';
import { findApprovalOf } from './find-approval.ts';
import type { KernelClient } from './kernel-clients.ts';
import { malformed, receiptRefused, throwKernelError } from './kernel-error.ts';
import type { KernelKeyRing } from './trusted-keys.ts';

export type AskedByKey = { workspaceId: string; sessionId: string; approvalId: string; principal: string };

/** The approval request of a key's call, and the decision that requires it. */
export type Question = { approval: Approval; receipt: StoredReceipt };

/**
 * The approval request that a call of the key created in the kernel, with all judged values. `null` when the kernel
 * has none. Throws KernelError, with RECEIPT_UNVERIFIED when no receipt proves that this key requested it.
 */
export async function findQuestion(
  client: Pick<KernelClient, 'listApprovals' | 'getReceipt'>,
  keyRing: KernelKeyRing,
  question: AskedByKey,
): Promise<Question | null> {
  const approval = await findApprovalOf(client, question, ({ approval_id: id }) => id === question.approvalId);
  if (approval === null || approval.receipt_id === null) return null;
  const params = { receipt_id: approval.receipt_id };
  const answer = await client.getReceipt({ params }).catch(throwKernelError);
  if (answer.kind === 'refused') throw malformed(`The kernel answered ${answer.status}`);
  const receipt = answer.body;
  const fault = await faultOf(keyRing, question, { approval, receipt });
  if (fault !== null) throw receiptRefused({ receipt, fault });
  return { approval, receipt };
}

/** No receipt is too old here: it contains the id of the approval, so it cannot be older than the approval. */
const notBefore = new Date(0);

async function faultOf(
  keyRing: KernelKeyRing,
  { workspaceId: tenant, sessionId: session, principal, approvalId }: AskedByKey,
  { approval, receipt }: Question,
): Promise<ReceiptFault | null> {
  const { action, tool, resource, effect_level } = approval;
  const { payload } = receipt;
  const expected = { tenant, principal, session, action, tool, decisionId: payload.decision_id, notBefore };
  const fault = findReceiptFault(receipt, await keyRing.keysFor(receipt.signature.key_id), expected);
  if (fault !== null) return fault;
  if (payload.verdict !== 'ESCALATE' || payload.approval_id !== approvalId) return 'approval';
  return payload.resource === resource && payload.effect_level === effect_level ? null : 'subject';
}
