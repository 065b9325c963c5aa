import type { CryptoProvider } from '@countersign/crypto';
import type { ApprovalRow } from './approval-row.ts';
import { ceremonyHash } from './ceremony.ts';

/** Nobody decided it in time, which is a refusal. */
export function isExpired({ state, expiresAtMs }: Pick<ApprovalRow, 'state' | 'expiresAtMs'>, nowMs: number): boolean {
  return state === 'pending' && nowMs >= expiresAtMs;
}

/** Moves an approval to `expired`, in place and under its lock. */
export function expire(provider: CryptoProvider, approval: ApprovalRow, nowMs: number): void {
  approval.state = 'expired';
  approval.updatedAtMs = nowMs;
  approval.ceremonyHash = ceremonyHash(provider, approval);
}
