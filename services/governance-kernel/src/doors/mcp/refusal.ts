import { keyOfPrincipal, reasonCodes } from '@countersign/contracts';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';

/** States to a person or a model what was refused, why, which receipt proves it and how to continue. */
export function refusalText(subject: string, reply: DecisionReply): string {
  const { nextStep } = reasonCodes[reply.reason_code];
  const lines = [
    `${subject} was not executed: ${reply.verdict} ${reply.reason_code}. ${reply.reason}`,
    `Receipt ${reply.receipt_id}. Next step: ${nextStep}`,
  ];
  if (reply.approval !== undefined) lines.push(approvalText(reply, reply.approval));
  return lines.join('\n');
}

type Handle = NonNullable<DecisionReply['approval']>;

function approvalText({ receipt }: DecisionReply, { approval_id: id, approve_url, expires_at }: Handle): string {
  const isOfWorkspace = keyOfPrincipal(receipt.payload.principal_id) !== null;
  const orThere = isOfWorkspace
    ? `, or at the gateway of the workspace as its owner or partner (PUT /api/audit/approvals/${id})`
    : '';
  return `Approval ${id} is pending until ${expires_at}. Decide it at ${approve_url}${orThere}, then repeat the same call.`;
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
