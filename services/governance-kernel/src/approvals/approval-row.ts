import type {
  ApprovalId,
  Digest,
  EffectLevel,
  PrincipalId,
  ReceiptId,
  SessionId,
  TenantId,
} from '@countersign/contracts';
import type {
  ApprovalPreconditions,
  ApprovalState,
  CappedFacts,
  Demand,
  RecordedIntent,
} from '@countersign/contracts/governance-kernel';
import type { VoteProof } from '../voting/approval-terms.ts';
import type { VoterRole } from '../voting/decision-rights.ts';

/** Times are milliseconds since the epoch. */
export type ApprovalRow = {
  readonly id: ApprovalId;
  readonly tenant: TenantId;
  readonly state: ApprovalState;
  readonly requestedBy: PrincipalId;
  /** The person behind the requester: who made its key or started its run. `null` when that is unknown. */
  readonly sponsor: PrincipalId | null;
  readonly session: SessionId;
  readonly action: string;
  readonly tool: string | null;
  readonly resource: string | null;
  readonly effectLevel: EffectLevel;
  readonly demand: Demand;
  /** What the policy read of the call. */
  readonly facts: RecordedIntent['facts'];
  /** Null where all of them are small enough to be kept. */
  readonly cappedFacts: CappedFacts | null;
  readonly argsHash: Digest;
  /** For whoever is to decide. Null as soon as the approval is pending no more. */
  readonly argsEncrypted: string | null;
  readonly intentHash: Digest;
  /** Of intent, effect, demand and facts: what the approval binds. */
  readonly judgedHash: Digest;
  readonly policyHash: Digest | null;
  readonly policyEpoch: number;
  /** What must still be so when the call is made. */
  readonly preconditions: ApprovalPreconditions;
  readonly receiptId: ReceiptId | null;
  readonly reason: string;
  readonly quorum: number;
  readonly approvers: readonly PrincipalId[];
  readonly approvedBy: readonly PrincipalId[];
  /** What each of these votes came with. */
  readonly approvedWith: readonly VoteProof[];
  /** What each of these voters was when they voted. Empty text for votes from before roles were kept. */
  readonly approvedAs: readonly (VoterRole | '')[];
  /** Which credential each of these votes came with: a quorum counts each one once. */
  readonly approvedCredentials: readonly string[];
  readonly scope: string;
  readonly usesRemaining: number;
  /** What was said to its denial or withdrawal. */
  readonly rejectionReason: string | null;
  /** How long an approved call waits after the last vote; 0: not at all. */
  readonly timelockSeconds: number;
  /** Null: nobody has approved it yet, or it does not wait. */
  readonly timelockUntilMs: number | null;
  /** Who approved it alone, why and when; null: nobody did. */
  readonly brokenBy: PrincipalId | null;
  readonly brokenReason: string | null;
  readonly brokenAtMs: number | null;
  /** What it was done with. */
  readonly brokenWith: VoteProof | null;
  readonly expiresAtMs: number;
  readonly ceremonyHash: Digest;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};
