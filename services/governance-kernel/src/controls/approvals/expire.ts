import type { Digest } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { ApprovalRow } from './approval-row.ts';
import { withCeremonyHash } from './ceremony.ts';

/** Whether the approval was not decided in time. It then counts as refused. */
export function isExpired({ state, expiresAtMs }: Pick<ApprovalRow, 'state' | 'expiresAtMs'>, nowMs: number): boolean {
  return state === 'pending' && nowMs >= expiresAtMs;
}

/** The reason for the end of an approval. It is shown with the approval and returned to the agent. */
export const policyReplaced =
  'The policy was replaced after this approval was requested; repeat the call to request a new one';

/**
 * The approval under the active policy (`null` when there is none). A pending or usable approval expires when a
 * different policy becomes active. The approval gate accepts it only under its own policy.
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
