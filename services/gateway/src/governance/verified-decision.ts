import { agentOf, reasonCodes, type ReasonCode, type Verdict } from '@countersign/contracts';
import type { Approval, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { KeyRing } from '@countersign/verifier';
import { findReceiptFault } from './check-receipt.ts';
import type { GovernedStep } from './governed-step.ts';
import { malformed, receiptRefused } from './kernel-error.ts';
import { storable } from './storable.ts';

/** The question of an ESCALATE, for its approver. */
export type KernelApproval = Pick<Approval, 'demand' | 'args' | 'facts' | 'reason'> & {
  approvalId: string;
  expiresAt: Date;
};

/** A decision whose receipt was verified here: signature, hash, tenant, principal, session, action, tool, age. */
export type VerifiedDecision = {
  verdict: Verdict;
  reasonCode: ReasonCode;
  reason: string;
  receipt: StoredReceipt;
  /** On ESCALATE: what has to be approved. */
  approval: KernelApproval | null;
};

/** The expected subject of the receipt, besides the step. */
type Subject = { action: string; tool: string | null; decisionId: string };

/** Throws KernelError for a receipt that does not prove a decision about exactly this. */
export async function verifyDecision(
  keyRing: KeyRing,
  step: GovernedStep,
  receipt: StoredReceipt,
  subject: Subject,
): Promise<void> {
  const fault = findReceiptFault(receipt, await keyRing.keys(), {
    ...subject,
    tenant: step.workspaceId,
    principal: agentOf(step.workspaceId),
    session: step.runId,
    notBefore: step.startedAt,
  });
  if (fault !== null) throw receiptRefused({ receipt, fault });
}

/** The decision that a verified receipt tells. The sealed values count, not the text beside them. */
export function decisionOf(receipt: StoredReceipt, reason: string, approval: KernelApproval | null): VerifiedDecision {
  const { verdict, reason_code: reasonCode } = receipt.payload;
  if (verdict === 'ESCALATE' && approval === null)
    throw malformed('The kernel asks for an approval that it does not name');
  const said = reason === '' ? (approval?.reason ?? reasonCodes[reasonCode].nextStep) : reason;
  return { verdict, reasonCode, reason: storable(said), receipt, approval };
}
