import { minorLeft } from '@countersign/contracts';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import type { Decision } from '@countersign/policy';
import { gatesText, recordIdOf } from '@countersign/receipts';
import { canonicalString as quoted } from '@countersign/crypto';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import type { DecisionPages } from '../controls/approvals/approval-url.ts';
import { approvalHandle } from '../controls/approvals/pending.ts';
import type { BudgetRow } from '../controls/budgets/budget-row.ts';
import { budgetFact } from '../controls/budgets/reserve.ts';
import { openReceiptJson, storedReceiptOf, type SealedEntry } from '../ledger/statement.ts';

/** The members of a reply. Its place in the log is missing, since that is known only after the commit. */
export type Answered = {
  entry: SealedEntry;
  decision: Decision;
  approval: ApprovalRow | null;
  budget: BudgetRow | null;
  pages: DecisionPages;
};

/** The reply as an object, for routes that read it. */
export function replyOf({ entry, decision, approval, budget, pages }: Answered, logIndex: number): DecisionReply {
  const { payload } = entry;
  const reply: DecisionReply = {
    verdict: decision.verdict,
    allow: isLeave(decision, payload),
    reason_code: decision.reason_code,
    reason: decision.reason,
    decision_id: payload.decision_id,
    record_id: recordIdOf(entry.ulid),
    record_hash: entry.recordHash,
    receipt_id: payload.receipt_id,
    receipt_hash: entry.receiptHash,
    policy_hash: payload.policy_hash,
    policy_epoch: payload.policy_epoch,
    lamport_clock: payload.lamport_clock,
    trace: decision.trace,
    receipt: storedReceiptOf(entry, logIndex),
    log_index: logIndex,
  };
  if (payload.shadow) reply.shadow = true;
  if (approval !== null) reply.approval = approvalHandle(approval, pages);
  if (budget !== null) reply.budget = budgetUse(budget);
  return reply;
}

/**
 * The same reply as JSON text, including the signed bytes. It is written member by member for speed, since nearly every
 * decision is answered with it. Its end is missing: `closeReply` adds it.
 */
export function openReply({ entry, decision, approval, budget, pages }: Answered): string {
  const { payload } = entry;
  return (
    `{"verdict":"${decision.verdict}","allow":${String(isLeave(decision, payload))},` +
    `"reason_code":"${decision.reason_code}","reason":${quoted(decision.reason)},` +
    `"decision_id":"${payload.decision_id}","record_id":"${recordIdOf(entry.ulid)}","record_hash":"${entry.recordHash}",` +
    `"receipt_id":"${payload.receipt_id}","receipt_hash":"${entry.receiptHash}",` +
    `"policy_hash":${payload.policy_hash === null ? 'null' : `"${payload.policy_hash}"`},` +
    `"policy_epoch":${payload.policy_epoch},"lamport_clock":${payload.lamport_clock},"trace":${gatesText(decision.trace)},` +
    (payload.shadow ? '"shadow":true,' : '') +
    (approval === null ? '' : `"approval":${JSON.stringify(approvalHandle(approval, pages))},`) +
    (budget === null ? '' : `"budget":${JSON.stringify(budgetUse(budget))},`) +
    `"receipt":${openReceiptJson(entry)}`
  );
}

/**
 * A shadow decision states what would have been decided, and permits nothing. A reader of `allow` alone must not act
 * on it.
 */
function isLeave({ verdict }: Decision, { shadow }: SealedEntry['payload']): boolean {
  return verdict === 'ALLOW' && !shadow;
}

export function closeReply(open: string, logIndex: number): string {
  return `${open},"log_index":${logIndex}},"log_index":${logIndex}}`;
}

function budgetUse(budget: BudgetRow) {
  const remaining = budgetFact(budget);
  return {
    budget_id: budget.id,
    tool_calls_remaining: remaining.tool_calls_remaining,
    spend_remaining_minor:
      remaining.spend_remaining_micros === null ? null : minorLeft(remaining.spend_remaining_micros),
    currency: remaining.currency,
  };
}
