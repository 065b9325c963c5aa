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
  /** What the statement rests on, for whoever checks it offline. */
  facts?: Record<string, PlainJson>;
};

/** A statement about something that was done rather than decided: a policy activated, an approval given. */
export function announcementStatement(provider: CryptoProvider, said: Announcement): Statement {
  const record = recordOf(provider, said);
  return { ulid: said.ulid, receipt: receiptOf(record, { shadow: false }), record };
}

function recordOf(provider: CryptoProvider, said: Announcement): RecordMembers {
  return {
    approval_id: said.approvalId,
    authz_snapshot_hash: null,
    budgets: [],
    created_at: said.at,
    decision_id: decisionIdOf(said.ulid),
    gate_roster_hash: gateRosterHash(provider, []),
    gates: [],
    intent: recordedIntent(provider, said),
    kind: said.kind,
    matched_rules: [],
    mcp_server_id: null,
    policy_epoch: said.policyEpoch,
    policy_hash: said.policyHash,
    principal_id: said.principal,
    reason_code: said.reasonCode,
    receipt_id: receiptIdOf(said.ulid),
    record_id: recordIdOf(said.ulid),
    sandbox_grant_hash: null,
    session_id: said.session,
    shadow: [],
    tenant_id: said.tenant,
    tool_definition_hash: null,
    type: 'countersign.record.v1',
    verdict: said.verdict,
  };
}

function recordedIntent(provider: CryptoProvider, said: Announcement): RecordMembers['intent'] {
  const { tenant, principal, session, action, tool, resource, argsHash: args_hash } = said;
  return {
    action,
    args_hash,
    effect_level: said.effectLevel,
    facts: said.facts ?? {},
    intent_hash: intentHash(provider, { tenant, principal, session, action, tool, resource, args_hash }),
    resource,
    tool,
  };
}
