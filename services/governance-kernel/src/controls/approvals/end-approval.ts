import { AppError, type PlainJson, type PrincipalId } from '@countersign/contracts';
import { samePerson } from '@countersign/policy';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted } from '../../ledger/control.ts';
import { activePolicy, wantedPolicies } from '../policy/policy-heads.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvals } from './approvals.ts';
import { expired, isExpired, underPolicy } from './expire.ts';
import { approvalTerms, missingProof } from '../voting/approval-terms.ts';
import { foundIn, nobody, sealedMoves, sealMove, type ApprovalKey, type ApprovalDeps } from './seal-move.ts';
import { revoked } from './transition.ts';

/** Ends an approval that has expired or whose policy was replaced. Any other approval is unchanged. */
export async function expireApproval(deps: ApprovalDeps, key: ApprovalKey): Promise<void> {
  await atApproval(deps, key, (batch, approval, nowMs) => sealIfEnded(deps, batch, approval, nowMs));
}

/** Seals the end of an approval that has expired or whose policy was replaced. `null` when neither applies. */
export function sealIfEnded(
  deps: ApprovalDeps,
  batch: LedgerBatch,
  approval: ApprovalRow,
  nowMs: number,
): ApprovalRow | null {
  const active = activePolicy(batch, approval.tenant)?.hash ?? null;
  const read = isExpired(approval, nowMs) ? approval : underPolicy(approval, active);
  if (read === approval && !isExpired(approval, nowMs)) return null;
  const moved = expired(deps.provider, read, nowMs);
  const { rejectionReason: reason } = moved;
  const facts: Record<string, PlainJson> = reason === null ? {} : { reason };
  return sealMove(deps, batch, { approval: moved, nowMs, by: nobody, facts, used: [], ...sealedMoves.expire });
}

type Withdrawal = ApprovalKey & {
  by: PrincipalId;
  /** The reason of the requester, which is sealed and shown with the approval. */
  reason?: string | undefined;
  /** Whether a credential proves the requester. The operator key does not. */
  isProven: boolean;
  /** The evidence of the requester, which is sealed into the boundary record. */
  evidence: Record<string, PlainJson>;
};

/**
 * Withdraws a pending or usable approval for its requester. An ended approval is returned unchanged, so a withdrawal
 * can be repeated. A proven requester needs no passkey, since a withdrawal permits nothing. Throws PERMISSION_DENIED,
 * PASSKEY_REQUIRED, NOT_FOUND.
 */
export async function withdrawApproval(deps: ApprovalDeps, withdrawal: Withdrawal): Promise<ApprovalRow> {
  const { tenant, by, reason, isProven, evidence } = withdrawal;
  return await atApproval(deps, withdrawal, (batch, approval, nowMs) => {
    if (!samePerson(by, approval.requestedBy))
      throw new AppError('PERMISSION_DENIED', 'Only the requester of an approval can withdraw it');
    const missing = isProven ? null : missingProof(batch.row(approvalTerms, tenant), 'claim');
    if (missing !== null) throw new AppError('PASSKEY_REQUIRED', missing);
    const ended = sealIfEnded(deps, batch, approval, nowMs);
    if (ended !== null) return ended;
    const moved = revoked(deps.provider, approval, { nowMs, reason });
    if (moved === null) return approval;
    const facts = {
      ...evidence,
      ...(reason === undefined ? {} : { reason }),
      ceremony_hash: approval.ceremonyHash,
    };
    return sealMove(deps, batch, { approval: moved, nowMs, by, facts, used: [], ...sealedMoves.revoke });
  });
}

type AccessEnd = ApprovalKey & { person: PrincipalId; reason: string };

/**
 * Ends an approval that a person without access requested, sponsored or approved. An approval that can no longer be
 * used is unchanged.
 */
export async function endWithAccess(deps: ApprovalDeps, { person, reason, ...key }: AccessEnd): Promise<void> {
  await atApproval(deps, key, (batch, approval, nowMs) => {
    if (sealIfEnded(deps, batch, approval, nowMs) !== null) return;
    const moved = revoked(deps.provider, approval, { nowMs, reason });
    if (moved === null) return;
    const facts = { credential: 'service', person, reason, ceremony_hash: approval.ceremonyHash };
    sealMove(deps, batch, { approval: moved, nowMs, by: nobody, facts, used: [], ...sealedMoves.revoke });
  });
}

type ServerEnd = ApprovalKey & { by: PrincipalId; reason: string };

/** Ends an approval for a revoked server. An approval that can no longer be used is unchanged. */
export async function endWithServer(deps: ApprovalDeps, { by, reason, ...key }: ServerEnd): Promise<void> {
  await atApproval(deps, key, (batch, approval, nowMs) => {
    if (sealIfEnded(deps, batch, approval, nowMs) !== null) return;
    const moved = revoked(deps.provider, approval, { nowMs, reason });
    if (moved === null) return;
    const facts = { reason, ceremony_hash: approval.ceremonyHash };
    sealMove(deps, batch, { approval: moved, nowMs, by, facts, used: [], ...sealedMoves.revoke });
  });
}

/** Runs one step under the lock of the approval's session, with the policy that is active at the commit. */
function atApproval<Done>(
  deps: ApprovalDeps,
  { tenant, id, session }: ApprovalKey,
  step: (batch: LedgerBatch, approval: ApprovalRow, nowMs: number) => Done,
): Promise<Done> {
  const chain = { tenant, session };
  return deps.ledger.submit({
    chain,
    wants: [wanted(approvals, { tenant, session, id }), wanted(approvalTerms, tenant), ...wantedPolicies(tenant)],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, deps.clock().getTime());
      const done = step(batch, foundIn(batch, { tenant, id, session }), nowMs);
      return () => done;
    },
  });
}
