import { AppError, type PlainJson, type PrincipalId } from '@countersign/contracts';
import { samePerson } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted } from '../ledger/control.ts';
import { activePolicy, wantedPolicies } from '../policy/policy-heads.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvals } from './approvals.ts';
import { expired, isExpired, underPolicy } from './expire.ts';
import { approvalTerms, missingProof } from '../voting/approval-terms.ts';
import { foundIn, nobody, said, sealMove, type ApprovalKey, type ApprovalParts } from './seal-move.ts';
import { revoked } from './transition.ts';

/** Ends an approval that time or a new policy has ended. One that was decided in the meantime is left as it is. */
export async function expireApproval(parts: ApprovalParts, key: ApprovalKey): Promise<void> {
  await atApproval(parts, key, (batch, approval, nowMs) => sealIfEnded(parts, batch, approval, nowMs));
}

/** Seals the expiry of an approval that time or a new policy has ended. `null` when neither has. */
export function sealIfEnded(
  parts: ApprovalParts,
  batch: LedgerBatch,
  approval: ApprovalRow,
  nowMs: number,
): ApprovalRow | null {
  const active = activePolicy(batch, approval.tenant)?.hash ?? null;
  const read = isExpired(approval, nowMs) ? approval : underPolicy(approval, active);
  if (read === approval && !isExpired(approval, nowMs)) return null;
  const moved = expired(parts.provider, read, nowMs);
  const { rejectionReason: reason } = moved;
  const facts: Record<string, PlainJson> = reason === null ? {} : { reason };
  return sealMove(parts, batch, { approval: moved, nowMs, by: nobody, facts, used: [], ...said.expire });
}

type Withdrawal = ApprovalKey & {
  by: PrincipalId;
  /** Sealed, and shown with the approval. */
  reason?: string | undefined;
  /** The requester is proven. The operator key proves no requester. */
  isProven: boolean;
  /** The requester's evidence: sealed into the boundary record. */
  evidence: Record<string, PlainJson>;
};

/**
 * The requester takes back its own question, or an approval that it has not used. An approval that has ended is returned as it is, so a
 * withdrawal can be repeated. A proven requester needs no passkey: a withdrawal lets nothing happen. Throws PERMISSION_DENIED,
 * PASSKEY_REQUIRED, NOT_FOUND.
 */
export async function withdrawApproval(parts: ApprovalParts, withdrawal: Withdrawal): Promise<ApprovalRow> {
  const { tenant, by, reason, isProven, evidence } = withdrawal;
  return await atApproval(parts, withdrawal, (batch, approval, nowMs) => {
    if (!samePerson(by, approval.requestedBy))
      throw new AppError('PERMISSION_DENIED', 'Only the requester of an approval can withdraw it');
    const missing = isProven ? null : missingProof(batch.row(approvalTerms, tenant), 'claim');
    if (missing !== null) throw new AppError('PASSKEY_REQUIRED', missing);
    const ended = sealIfEnded(parts, batch, approval, nowMs);
    if (ended !== null) return ended;
    const moved = revoked(parts.provider, approval, { nowMs, reason });
    if (moved === null) return approval;
    const facts = {
      ...evidence,
      ...(reason === undefined ? {} : { reason }),
      ceremony_hash: approval.ceremonyHash,
    };
    return sealMove(parts, batch, { approval: moved, nowMs, by, facts, used: [], ...said.revoke });
  });
}

type AccessEnd = ApprovalKey & { person: PrincipalId; reason: string };

/** Ends an approval of a person whose access ended. One that has ended, or was used, is left as it is. */
export async function endWithAccess(parts: ApprovalParts, { person, reason, ...key }: AccessEnd): Promise<void> {
  await atApproval(parts, key, (batch, approval, nowMs) => {
    if (sealIfEnded(parts, batch, approval, nowMs) !== null) return;
    const moved = revoked(parts.provider, approval, { nowMs, reason });
    if (moved === null) return;
    const facts = { credential: 'service', person, reason, ceremony_hash: approval.ceremonyHash };
    sealMove(parts, batch, { approval: moved, nowMs, by: nobody, facts, used: [], ...said.revoke });
  });
}

/** Runs one step under the lock of the approval's session, with the policy that is active at its commit. */
function atApproval<Done>(
  parts: ApprovalParts,
  { tenant, id, session }: ApprovalKey,
  step: (batch: LedgerBatch, approval: ApprovalRow, nowMs: number) => Done,
): Promise<Done> {
  const chain = { tenant, session };
  return parts.ledger.submit({
    chain,
    wants: [wanted(approvals, { tenant, session, id }), wanted(approvalTerms, tenant), ...wantedPolicies(tenant)],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, parts.clock().getTime());
      const done = step(batch, foundIn(batch, { tenant, id, session }), nowMs);
      return () => done;
    },
  });
}
