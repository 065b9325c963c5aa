import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { EffectLevel } from '@countersign/contracts';
import type { StoredReceipt, BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { decodeHex, encodeBase64Url, publicKeyToJwk, utf8Bytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import {
  compilePolicy,
  decide,
  parsePolicyBundle,
  readFacts,
  type CompiledPolicy,
  type Intent,
} from '@countersign/policy';
import {
  argsHash,
  decisionStatement,
  gateRosterHash,
  intentHash,
  judgedHash,
  payloadOf,
  payloadText,
  receiptHash,
  sealRecord,
} from '@countersign/receipts';
import { parseKeySet } from '@countersign/verifier';
import { gateOrder } from '@countersign/contracts';

/** The key of RFC 8032 §7.1, TEST 1. It is published, so only tests may use it. */
const signer = createSigner(decodeHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'));
export const trust = parseKeySet({
  keys: [
    {
      ...{ ...publicKeyToJwk(signer.publicKey), kid: signer.keyId, purpose: 'receipts' },
      valid_from: '2026-01-01T00:00:00.000Z',
    },
  ],
});

export const policyOf = (rules: object[]): CompiledPolicy =>
  compilePolicy(
    parsePolicyBundle({ format: 'countersign/policy.v1', name: 'test', version: '1', rules }),
    nodeProvider,
  );

export type Call = { agent: string; session: string; tool: string; args: Intent['args'] };
export type Sealed = { receipt: StoredReceipt; record: BoundaryRecord; intent: Intent };

const demand = { tool_calls: 1, spend_micros: 0n, egress_bytes: 0, writes: 1 };
const notApplicable = { state: 'not_applicable' } as const;

/**
 * A ledger in memory with these calls, sealed one after the other as by a kernel, oldest first. `stated`: the policy
 * that a lying kernel claims to have used.
 */
export function sealedUnder(policy: CompiledPolicy, calls: readonly Call[], stated = policy): Sealed[] {
  const heads = new Map<string, { lamport: number; hash: Digest }>();
  return calls.map((call, nth) => {
    const at = new Date(Date.parse('2026-02-01T00:00:00.000Z') + nth * 1_000).toISOString() as Instant; // exactly this form
    const intent = intentOf(call);
    const decision = decide(policy, intent, factsAt(policy, at));
    const read = { facts: readFacts(stated, intent, { now: at, relations: {} }) };
    const recorded = { ...demand, spend_micros: '0' };
    const statement = decisionStatement({
      ...{ ulid: String(nth).padStart(26, '0'), at, intent: intent as never, read, demand: recorded },
      ...{ tenant: 'acme' as TenantId, principal: call.agent as PrincipalId, session: call.session as SessionId },
      judged_hash: judgedHash(nodeProvider, {
        ...(intent as never as { intent_hash: Digest }),
        ...read,
        effect_level: 'E4',
        demand: recorded,
      }),
      ...{ verdict: decision.verdict, reason_code: decision.reason_code, gates: decision.trace },
      ...{ gate_roster_hash: gateRosterHash(nodeProvider, [...gateOrder]), matched_rules: decision.matched_rules },
      ...{ policy_hash: stated.hash, policy_epoch: 1, mcp_server_id: null, tool_definition_hash: null },
      sandbox_grant_hash: null,
      ...{
        authz_snapshot_hash: null,
        budgets: [],
        approval_id: null,
        dispatched_by: 'caller',
        shadow: [],
        isShadow: false,
      },
      identity: { credential: 'operator_key', credential_id: null, credential_state: 'active', enrolment: 'none' },
    });
    const head = heads.get(call.session);
    const { hash, text } = sealRecord(nodeProvider, statement.record as never);
    const payload = payloadOf(statement.receipt, hash, {
      lamportClock: (head?.lamport ?? 0) + 1,
      prevHash: head?.hash ?? null,
    });
    const signed = payloadText(payload);
    const signature = {
      alg: 'Ed25519' as const,
      key_id: signer.keyId,
      value: encodeBase64Url(signer.sign(utf8Bytes(signed))),
    };
    const receipt_hash = receiptHash(nodeProvider, { payload: signed, signature });
    heads.set(call.session, { lamport: payload.lamport_clock, hash: receipt_hash });
    const record = JSON.parse(text) as BoundaryRecord;
    return { receipt: { payload, signature, receipt_hash, log_index: nth }, record, intent };
  });
}

function intentOf({ agent, session, tool, args }: Call): Intent {
  const named = {
    tenant: 'acme',
    principal: agent,
    session,
    action: 'tool.call',
    tool: tool as never,
    resource: null,
  };
  const args_hash = argsHash(nodeProvider, Uint8Array.of(1), args);
  const intent_hash = intentHash(nodeProvider, { ...named, args_hash }); // the names match their schemas
  return { ...named, args, context: {}, effect_level: EffectLevel.enum.E4, args_hash, intent_hash };
}

function factsAt(policy: CompiledPolicy, now: string): Parameters<typeof decide>[2] {
  const signed = { epoch: 1, signature_valid: true, is_newest: true, missing_ceiling: null, age_ms: 0, age_max_ms: 1 };
  return {
    now,
    request: { state: 'known', value: { fault: null } },
    fence: { state: 'known', value: [] },
    settings: notApplicable,
    policy: { state: 'known', value: { hash: policy.hash, ...signed } },
    identity: {
      state: 'known',
      value: { credential: 'operator_key', credential_id: null, credential_state: 'active', enrolment: 'none' },
    },
    ...{ relationship: notApplicable, registry: notApplicable, scopes: notApplicable, sandbox: notApplicable },
    ...{ egress: notApplicable, provenance: notApplicable },
    block: { state: 'known', value: { tool_blocked: false } },
    budgets: { state: 'known', value: [] },
    demand,
    judged_hash: '',
    approval: { state: 'known', value: null },
  };
}
