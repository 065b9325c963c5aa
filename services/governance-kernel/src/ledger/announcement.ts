import type { Digest, EffectLevel, PlainJson, ReasonCode, Verdict } from '@countersign/contracts';
import type { ReceiptKind } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, type CryptoProvider } from '@countersign/crypto';
import { decisionIdOf, receiptIdOf, recordIdOf } from '../boundary/statement-of.ts';
import type { Speaker, Statement } from './statement.ts';

export type Announcement = Speaker & {
  ulid: string;
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
  approvalId: Statement['receipt']['approval_id'] | null;
  /** What the statement rests on, for whoever checks it offline. */
  facts?: Record<string, PlainJson>;
  rosterHash: Digest;
};

/** A statement about something that was done rather than decided: a policy activated, an approval given. */
export function announcementOf(provider: CryptoProvider, said: Announcement): Statement {
  const common = {
    kind: said.kind,
    decision_id: decisionIdOf(said.ulid),
    receipt_id: receiptIdOf(said.ulid),
    tenant_id: said.tenant,
    principal_id: said.principal,
    session_id: said.session,
    verdict: said.verdict,
    reason_code: said.reasonCode,
    policy_hash: said.policyHash,
    policy_epoch: said.policyEpoch,
  };
  const named = {
    action: said.action,
    tool: said.tool,
    resource: said.resource,
    effect_level: said.effectLevel,
    args_hash: said.argsHash,
  };
  const intentHash = digestOf(
    provider,
    canonicalBytes({ tenant: said.tenant, principal: said.principal, session: said.session, ...named }),
  ) as Digest; // digestOf writes exactly this form
  return {
    ulid: said.ulid,
    receipt: {
      ...common,
      ...named,
      ...(said.approvalId === null ? {} : { approval_id: said.approvalId }),
      shadow: false,
      issued_at: said.at,
    },
    record: {
      ...common,
      type: 'countersign.record.v1',
      record_id: recordIdOf(said.ulid),
      intent: { ...named, intent_hash: intentHash, facts: said.facts ?? {} },
      gates: [],
      gate_roster_hash: said.rosterHash,
      matched_rules: [],
      authz_snapshot_hash: null,
      sandbox_grant_hash: null,
      tool_definition_hash: null,
      mcp_server_id: null,
      budget_ids: [],
      approval_id: said.approvalId ?? null,
      shadow: [],
      created_at: said.at,
    },
  };
}
