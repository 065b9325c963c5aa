import { AppError } from '@countersign/contracts';
import type {
  ApprovalId,
  PlainJson,
  PrincipalId,
  ReasonCode,
  SessionId,
  TenantId,
  Verdict,
} from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import { announcementStatement } from '@countersign/receipts';
import { approvalResolvedEvent, glassBrokenEvent } from '../events.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, type Change } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { requireVerifiableCeremony } from '../passkeys/verifiable-ceremony.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvals } from './approvals.ts';
import { instant } from './timelock.ts';
import type { ApprovalAction } from './transition.ts';

export type ApprovalParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  newEvent: NewEvent;
};

/** Which approval. Its session never changes, so it may be read before the lock. */
export type ApprovalKey = { tenant: TenantId; id: ApprovalId; session: SessionId };

type Said = { action: ApprovalAction | 'expire'; verdict: Verdict; reason: ReasonCode };

export const said: Record<Said['action'], Said> = {
  approve: { action: 'approve', verdict: 'ALLOW', reason: 'ALLOWED' },
  deny: { action: 'deny', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  revoke: { action: 'revoke', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  break_glass: { action: 'break_glass', verdict: 'ALLOW', reason: 'ALLOWED' },
  expire: { action: 'expire', verdict: 'DENY', reason: 'APPROVAL_EXPIRED' },
};

/** The actor of an approval that expires by itself. */
export const nobody = 'kernel' as PrincipalId; // within its schema

/** Throws NOT_FOUND. */
export function foundIn(batch: LedgerBatch, { tenant, id, session }: ApprovalKey): ApprovalRow {
  const approval = batch.row(approvals, { tenant, session, id });
  if (approval === null) throw new AppError('NOT_FOUND', 'There is no such approval');
  return approval;
}

type SaidMove = Said & {
  approval: ApprovalRow;
  nowMs: number;
  by: PrincipalId;
  facts: Record<string, PlainJson>;
  /** The changes of the credential that the vote consumed. */
  used: Change[];
};

/** Seals one move of an approval with its row and its events. */
export function sealMove(parts: ApprovalParts, batch: LedgerBatch, move: SaidMove): ApprovalRow {
  const { approval } = move;
  batch.seal(announcementStatement(parts.provider, announced(parts, move)), (sealed) => {
    requireVerifiableCeremony(parts.provider, sealed);
    return { changes: [...move.used, put(approvals, approval)], events: eventsOf(parts, move) };
  });
  return approval;
}

function eventsOf(parts: ApprovalParts, { approval, action, by }: SaidMove): OutgoingEvent[] {
  if (approval.state === 'pending') return [];
  const resolved = approvalResolvedEvent(parts, { approval, by: by === nobody ? null : by });
  return action === 'break_glass' ? [glassBrokenEvent(parts, approval), resolved] : [resolved];
}

function announced({ newUlid }: ApprovalParts, { approval, nowMs, by, action, verdict, reason, facts }: SaidMove) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch },
    ulid: newUlid(nowMs),
    at: instant(nowMs),
    principal: by,
    kind: action === 'break_glass' ? ('break_glass' as const) : ('approval' as const),
    action: `approval.${action}`,
    verdict,
    reasonCode: reason,
    approvalId: approval.id,
    facts: {
      ...facts,
      approved_intent_hash: approval.intentHash,
      approved_judged_hash: approval.judgedHash,
      approved_scope: approval.scope,
      approved_expires_at: instant(approval.expiresAtMs),
      approved_preconditions: approval.preconditions,
      state: approval.state,
      ...(action === 'break_glass' ? { expires_at: instant(approval.expiresAtMs) } : {}),
      ...(approval.timelockUntilMs === null ? {} : { timelock_until: instant(approval.timelockUntilMs) }),
    },
  };
}
