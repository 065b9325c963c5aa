import type { ApprovalRow } from './approval-row.ts';

/** The time from the request to its expiry, which is compared with the timeout of a rule. */
export function lifetimeSeconds({
  createdAtMs,
  expiresAtMs,
}: Pick<ApprovalRow, 'createdAtMs' | 'expiresAtMs'>): number {
  return (expiresAtMs - createdAtMs) / 1000;
}
