import type { Digest } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { ApprovalRow } from './approval-row.ts';
import { withCeremonyHash } from './ceremony.ts';

/** It was not decided in time, which is a refusal. */
export function isExpired({ state, expiresAtMs }: Pick<ApprovalRow, 'state' | 'expiresAtMs'>, nowMs: number): boolean {
  return state === 'pending' && nowMs >= expiresAtMs;
}

/** Shown with the approval, and returned to the agent. */
export const policyReplaced =
  'The policy was replaced after this approval was requested; repeat the call to request a new one';

/**
 * The approval as it reads under the active policy (`null`: there is none). A pending or unused one expires when another policy becomes
 * active, because the approval gate accepts it under its own policy only.
 */
export function underPolicy(approval: ApprovalRow, activePolicy: Digest | null): ApprovalRow {
  const { state, policyHash } = approval;
  const isUnused = state === 'pending' || state === 'approved';
  if (!isUnused || activePolicy === null || policyHash === null || policyHash === activePolicy) return approval;
  return { ...approval, state: 'expired', argsEncrypted: null, rejectionReason: policyReplaced };
}

/** The row of an approval that expires. */
export function expired(provider: CryptoProvider, approval: ApprovalRow, nowMs: number): ApprovalRow {
  return withCeremonyHash(provider, { ...approval, state: 'expired', argsEncrypted: null, updatedAtMs: nowMs });
}
