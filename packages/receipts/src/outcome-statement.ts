import type { Digest, Instant } from '@countersign/contracts';
import type { Outcome, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { receiptIdOf } from './ids.ts';
import type { ReceiptMembers, Statement } from './statement.ts';

/**
 * The end of a dispatched action. `output_hash` is undefined when the output is unknown, `spend_micros` when no cost
 * was counted.
 */
type Ending = {
  ulid: string;
  at: Instant;
  outcome: Outcome;
  output_hash: Digest | undefined;
  spend_micros: string | undefined;
};

/** The result of the action that `decided` allowed: a second receipt about the same record. */
export function outcomeStatement(decided: ReceiptPayload, ending: Ending): Statement {
  return { ulid: ending.ulid, receipt: outcomeReceipt(decided, ending), record: { hash: decided.record_hash } };
}

/** The receipt repeats the decision, so that it can be read alone. It names the decision's receipt. */
function outcomeReceipt(decided: ReceiptPayload, ending: Ending): ReceiptMembers {
  const { ulid, at, outcome, output_hash, spend_micros } = ending;
  const receipt: ReceiptMembers = {
    action: decided.action,
    args_hash: decided.args_hash,
    decision_id: decided.decision_id,
    decision_receipt_id: decided.receipt_id,
    effect_level: decided.effect_level,
    issued_at: at,
    kind: 'outcome',
    outcome,
    policy_epoch: decided.policy_epoch,
    policy_hash: decided.policy_hash,
    principal_id: decided.principal_id,
    reason_code: decided.reason_code,
    receipt_id: receiptIdOf(ulid),
    resource: decided.resource,
    session_id: decided.session_id,
    shadow: decided.shadow,
    tenant_id: decided.tenant_id,
    tool: decided.tool,
    verdict: decided.verdict,
  };
  if (decided.approval_id !== undefined) receipt.approval_id = decided.approval_id;
  if (output_hash !== undefined) receipt.output_hash = output_hash;
  if (spend_micros !== undefined) receipt.spend_micros = spend_micros;
  return receipt;
}
