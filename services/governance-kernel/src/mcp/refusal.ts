import { reasonCodes } from '@countersign/contracts';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';

/** Says to a person or a model what was refused, why, which receipt proves it and how to go on. */
export function refusalText(subject: string, reply: DecisionReply): string {
  const { nextStep } = reasonCodes[reply.reason_code];
  const lines = [
    `${subject} was not executed: ${reply.verdict} ${reply.reason_code}. ${reply.reason}`,
    `Receipt ${reply.receipt_id}. Next step: ${nextStep}`,
  ];
  if (reply.approval !== undefined) lines.push(approvalText(reply.approval));
  return lines.join('\n');
}

function approvalText({ approval_id, approve_url, expires_at }: NonNullable<DecisionReply['approval']>): string {
  return `Approval ${approval_id} is pending until ${expires_at}. Decide it at ${approve_url}, then repeat the same call.`;
}

/** The decision as MCP result metadata. */
export function decisionMeta(reply: DecisionReply): Record<string, string> {
  return {
    'countersign/verdict': reply.verdict,
    'countersign/reason_code': reply.reason_code,
    'countersign/decision_id': reply.decision_id,
    'countersign/receipt_id': reply.receipt_id,
    ...(reply.approval
      ? { 'countersign/approval_id': reply.approval.approval_id, 'countersign/approve_url': reply.approval.approve_url }
      : {}),
  };
}
