import { agentOf, reasonCodes, type ReasonCode, type Verdict } from '@countersign/contracts';
import type { Approval, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { findReceiptFault } from './check-receipt.ts';
import type { GovernedStep } from './governed-step.ts';
import { malformed, receiptRefused } from './kernel-error.ts';
import { storable } from './storable.ts';
import type { KernelKeyRing } from './trusted-keys.ts';

/** The approval request of an ESCALATE, for its approver. */
export type KernelApproval = Pick<Approval, 'demand' | 'args' | 'facts' | 'reason'> & {
  approvalId: string;
  expiresAt: Date;
};

/** A decision whose receipt was verified here: its signature and hash, and that it belongs to this step. */
export type VerifiedDecision = {
  verdict: Verdict;
  reasonCode: ReasonCode;
  reason: string;
  receipt: StoredReceipt;
  /** The approval that an ESCALATE requires. `null` for other verdicts. */
  approval: KernelApproval | null;
};

/** The expected subject of the receipt, in addition to the step. */
type Subject = { action: string; tool: string | null; decisionId: string };

/** Throws KernelError for a receipt that does not prove a decision about this subject. */
export async function verifyDecision(
  keyRing: KernelKeyRing,
  step: GovernedStep,
  receipt: StoredReceipt,
  subject: Subject,
): Promise<void> {
  const fault = findReceiptFault(receipt, await keyRing.keysFor(receipt.signature.key_id), {
    ...subject,
    tenant: step.workspaceId,
    principal: agentOf(step.workspaceId),
    session: step.runId,
    notBefore: step.startedAt,
  });
  if (fault !== null) throw receiptRefused({ receipt, fault });
}

/** The decision in a verified receipt. The sealed values are used, and the unsealed text is only informative. */
export function decisionOf(receipt: StoredReceipt, reason: string, approval: KernelApproval | null): VerifiedDecision {
  const { verdict, reason_code: reasonCode } = receipt.payload;
  if (verdict === 'ESCALATE' && approval === null)
    throw malformed('The kernel asks for an approval that it does not name');
  const text = reason === '' ? (approval?.reason ?? reasonCodes[reasonCode].nextStep) : reason;
  return { verdict, reasonCode, reason: storable(text), receipt, approval };
}
