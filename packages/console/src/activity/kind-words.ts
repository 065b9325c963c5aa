import type { ReceiptKind, StoredReceipt } from '@countersign/contracts/governance-kernel';

export const kindWords: Readonly<Record<ReceiptKind, string>> = {
  decision: 'Decision',
  outcome: 'Result of a call',
  approval: 'Approval',
  break_glass: 'Emergency approval',
  registry: 'Tool registry',
  policy: 'Change to rules',
  trust: 'Signing keys',
  drift: 'Changed tool',
  conformance: 'Self-test',
  heartbeat: 'Heartbeat',
  head: 'End of a session',
  period: 'Period',
};

const outcomeWords: Readonly<Record<NonNullable<StoredReceipt['payload']['outcome']>, string>> = {
  completed: 'Completed',
  failed: 'Failed',
  uncertain: 'Result unknown',
};

/** The result of a call, or the kind of a receipt without a result. */
export function kindInWords({ kind, outcome }: Pick<StoredReceipt['payload'], 'kind' | 'outcome'>): string {
  return outcome === undefined ? kindWords[kind] : outcomeWords[outcome];
}
