import type { CryptoProvider } from '@countersign/crypto';
import type { ApprovalRow } from './approval-row.ts';
import { withCeremonyHash } from './ceremony.ts';

/** Nobody decided it in time, which is a refusal. */
export function isExpired({ state, expiresAtMs }: Pick<ApprovalRow, 'state' | 'expiresAtMs'>, nowMs: number): boolean {
  return state === 'pending' && nowMs >= expiresAtMs;
}

export function expired(provider: CryptoProvider, approval: ApprovalRow, nowMs: number): ApprovalRow {
  return withCeremonyHash(provider, { ...approval, state: 'expired', argsEncrypted: null, updatedAtMs: nowMs });
}
