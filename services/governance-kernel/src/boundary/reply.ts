import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvalHandle } from '../approvals/pending.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import { budgetFact } from '../budgets/reserve.ts';
import type { Decision } from '@countersign/policy';
import { openReceiptJson, type SealedEntry } from '../ledger/statement.ts';
import { recordIdOf } from '@countersign/receipts';

type Answered = {
  entry: SealedEntry;
  decision: Decision;
  approval: ApprovalRow | null;
  budget: BudgetRow | null;
  publicUrl: string;
};

/**
 * The DecisionReply as JSON: written once, from the bytes that were signed. Its end is open, because the entry's place in the log
 * is known when it is committed.
 */
export function openReply({ entry, decision, approval, budget, publicUrl }: Answered): string {
  const { payload } = entry;
  const head = JSON.stringify({
    verdict: decision.verdict,
    allow: decision.verdict === 'ALLOW',
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
    ...(approval === null ? {} : { approval: approvalHandle(approval, publicUrl) }),
    ...(budget === null ? {} : { budget: budgetUse(budget) }),
  });
  return `${head.slice(0, -1)},"receipt":${openReceiptJson(entry)}`;
}

export function closeReply(open: string, logIndex: number): string {
  return `${open},"log_index":${logIndex}},"log_index":${logIndex}}`;
}

function budgetUse(budget: BudgetRow) {
  const left = budgetFact(budget);
  return {
    budget_id: left.budget_id,
    tool_calls_remaining: left.tool_calls_remaining,
    spend_remaining_minor: left.spend_remaining_minor,
    currency: left.currency,
  };
}
