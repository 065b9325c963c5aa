import type { GraphEdge, GraphReceipt, StoredReceipt } from '@countersign/contracts/governance-kernel';

/** A receipt with the entries that its own signed members refer to. */
export function graphReceipt(receipt: StoredReceipt): GraphReceipt {
  const { prev_hash, decision_receipt_id, approval_id } = receipt.payload;
  const edges: GraphEdge[] = [];
  if (prev_hash !== null) edges.push({ relation: 'follows', receipt_hash: prev_hash });
  if (decision_receipt_id !== undefined) edges.push({ relation: 'settles', receipt_id: decision_receipt_id });
  if (typeof approval_id === 'string') edges.push({ relation: 'approval', approval_id });
  return { receipt, edges };
}
