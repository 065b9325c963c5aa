import { AppError } from '@countersign/contracts';
import type {
  ApprovalId,
  Digest,
  Instant,
  PrincipalId,
  ReasonCode,
  SessionId,
  TenantId,
  Verdict,
} from '@countersign/contracts';
import { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { announcementOf } from '../ledger/announcement.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { ApprovalRow } from './approval-row.ts';
import { transition, type ApprovalAction } from './transition.ts';

export type ApprovalParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  newEvent: NewEvent;
  rosterHash: Digest;
};

export type ApprovalDecision = {
  tenant: TenantId;
  id: ApprovalId;
  /** Of the approval; it never changes, so it may be read before. */
  session: SessionId;
  action: ApprovalAction;
  by: PrincipalId;
  expectedCeremonyHash: Digest;
  /** Checked under the lock, before the move: a signature over what is decided. */
  verify?: (approval: ApprovalRow) => void;
};

const said: Record<ApprovalAction, { verdict: Verdict; reason: ReasonCode }> = {
  approve: { verdict: 'ALLOW', reason: 'ALLOWED' },
  deny: { verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  revoke: { verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
};

/** Moves an approval, seals who did it, and tells whoever waits, in one transaction. Throws what transition() throws, or NOT_FOUND. */
export function decideApproval(parts: ApprovalParts, decision: ApprovalDecision): Promise<ApprovalRow> {
  const { tenant, id, session } = decision;
  return parts.ledger.submit({
    chain: { tenant, session },
    reads: { approval: { tenant, id } },
    conclude: (batch) => conclude(parts, batch, decision),
  });
}

function found(batch: LedgerBatch, { tenant, id }: { tenant: TenantId; id: ApprovalId }): ApprovalRow {
  const approval = batch.approval(tenant, id);
  if (approval === null) throw new AppError('NOT_FOUND', 'There is no such approval');
  return approval;
}

function conclude(parts: ApprovalParts, batch: LedgerBatch, decision: ApprovalDecision): ApprovalRow {
  const approval = found(batch, decision);
  const nowMs = parts.clock().getTime();
  decision.verify?.(approval);
  transition(parts.provider, approval, { ...decision, nowMs });
  batch.changedApprovals.add(approval);
  batch.append(
    announcementOf(parts.provider, {
      ...announcedBy(decision, approval),
      ulid: parts.newUlid(nowMs),
      at: instant(nowMs),
      rosterHash: parts.rosterHash,
    }),
  );
  if (approval.state !== 'pending') batch.newEvents.push(resolvedEvent(parts, approval));
  return { ...approval };
}

function announcedBy({ tenant, action, by }: ApprovalDecision, approval: ApprovalRow) {
  return {
    tenant,
    principal: by,
    session: approval.session,
    kind: 'approval' as const,
    action: `approval.${action}`,
    tool: approval.tool,
    resource: approval.resource,
    effectLevel: approval.effectLevel,
    verdict: said[action].verdict,
    reasonCode: said[action].reason,
    argsHash: approval.argsHash,
    policyHash: approval.policyHash,
    policyEpoch: approval.policyEpoch,
    approvalId: approval.id,
  };
}

function resolvedEvent({ newEvent }: ApprovalParts, approval: ApprovalRow) {
  const data = {
    approval_id: approval.id,
    tenant_id: approval.tenant,
    session_id: approval.session,
    state: approval.state,
    resolved_at: instant(approval.updatedAtMs),
  };
  return newEvent(kernelApprovalResolved, data, { subject: approval.id, tenantid: approval.tenant });
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
