import type {
  ApprovalId,
  Digest,
  EffectLevel,
  PrincipalId,
  ReceiptId,
  SessionId,
  TenantId,
} from '@countersign/contracts';
import type { ApprovalState } from '@countersign/contracts/governance-kernel';

/** An approval under its row lock. Times are milliseconds since the epoch. */
export type ApprovalRow = {
  id: ApprovalId;
  tenant: TenantId;
  state: ApprovalState;
  requestedBy: PrincipalId;
  session: SessionId;
  action: string;
  tool: string | null;
  resource: string | null;
  effectLevel: EffectLevel;
  argsHash: Digest;
  intentHash: Digest;
  policyHash: Digest | null;
  policyEpoch: number;
  receiptId: ReceiptId | null;
  reason: string;
  quorum: number;
  approvers: PrincipalId[];
  approvedBy: PrincipalId[];
  scope: string;
  usesRemaining: number;
  timelockUntilMs: number | null;
  expiresAtMs: number;
  ceremonyHash: Digest;
  createdAtMs: number;
  updatedAtMs: number;
};
