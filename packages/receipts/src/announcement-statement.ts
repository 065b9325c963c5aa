import type {
  ApprovalId,
  Digest,
  EffectLevel,
  Instant,
  PlainJson,
  PrincipalId,
  ReasonCode,
  SessionId,
  TenantId,
  Verdict,
} from '@countersign/contracts';
import type { ReceiptKind } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { gateRosterHash, intentHash } from './hashes.ts';
import { decisionIdOf, receiptIdOf, recordIdOf } from './ids.ts';
import { receiptOf } from './receipt-of.ts';
import type { RecordMembers } from './record-text.ts';
import type { Statement } from './statement.ts';

type Announcement = {
  ulid: string;
  at: Instant;
  tenant: TenantId;
  principal: PrincipalId;
  session: SessionId;
  kind: Exclude<ReceiptKind, 'decision' | 'outcome'>;
  action: string;
  tool: string | null;
  resource: string | null;
  effectLevel: EffectLevel;
  verdict: Verdict;
  reasonCode: ReasonCode;
  argsHash: Digest;
  policyHash: Digest | null;
  policyEpoch: number;
  approvalId: ApprovalId | null;
  /** The evidence of the statement, for offline verification. */
  facts?: Record<string, PlainJson>;
};

/** A statement about an action that needed no decision, such as the activation of a policy or a vote on an approval. */
export function announcementStatement(provider: CryptoProvider, announcement: Announcement): Statement {
  const record = recordOf(provider, announcement);
  return { ulid: announcement.ulid, receipt: receiptOf(record, { shadow: false }), record };
}

function recordOf(provider: CryptoProvider, announcement: Announcement): RecordMembers {
  return {
    approval_id: announcement.approvalId,
    authz_snapshot_hash: null,
    budgets: [],
    created_at: announcement.at,
    decision_id: decisionIdOf(announcement.ulid),
    gate_roster_hash: gateRosterHash(provider, []),
    gates: [],
    intent: recordedIntent(provider, announcement),
    kind: announcement.kind,
    matched_rules: [],
    mcp_server_id: null,
    policy_epoch: announcement.policyEpoch,
    policy_hash: announcement.policyHash,
    principal_id: announcement.principal,
    reason_code: announcement.reasonCode,
    receipt_id: receiptIdOf(announcement.ulid),
    record_id: recordIdOf(announcement.ulid),
    sandbox_grant_hash: null,
    session_id: announcement.session,
    shadow: [],
    tenant_id: announcement.tenant,
    tool_definition_hash: null,
    type: 'countersign.record.v1',
    verdict: announcement.verdict,
  };
}

function recordedIntent(provider: CryptoProvider, announcement: Announcement): RecordMembers['intent'] {
  const { tenant, principal, session, action, tool, resource, argsHash: args_hash } = announcement;
  return {
    action,
    args_hash,
    effect_level: announcement.effectLevel,
    facts: announcement.facts ?? {},
    intent_hash: intentHash(provider, { tenant, principal, session, action, tool, resource, args_hash }),
    resource,
    tool,
  };
}
