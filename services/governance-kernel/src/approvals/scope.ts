import type { ApprovalRow } from './approval-row.ts';

/** From the question to its expiry: what a rule calls the timeout of its approval. */
export function lifetimeSeconds({
  createdAtMs,
  expiresAtMs,
}: Pick<ApprovalRow, 'createdAtMs' | 'expiresAtMs'>): number {
  return (expiresAtMs - createdAtMs) / 1000;
}
