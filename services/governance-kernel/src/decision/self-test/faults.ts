import type { GateName, ReasonCode } from '@countersign/contracts';
import type { Facts } from '@countersign/policy';
import type { Judgeable } from '../conclude-call.ts';

/** The input that a gate must refuse: a call, or the facts about it. */
type Fault = { readonly tool?: string; readonly code: ReasonCode; spoil(judged: Judgeable): Judgeable };

const knownFact = <Member extends keyof Facts>(member: Member, value: unknown, code: ReasonCode): Fault => ({
  code,
  spoil: ({ intent, facts }) => ({ intent, facts: { ...facts, [member]: { state: 'known', value } } }),
});

const frozen = {
  scope: 'system',
  level: 'system',
  kind: 'freeze',
  epoch: 1,
  reason: 'self-test',
  calls_remaining: null,
};
const toolOf = (pinned_hash: string, input_schema: Record<string, unknown>) => ({
  server_id: 'self-test',
  state: 'approved',
  tool: { pinned_hash, current_hash: 'current', input_schema },
});
const spent = {
  budget_id: 'self-test',
  tool_calls_remaining: 0,
  spend_remaining_micros: null,
  egress_remaining_bytes: null,
  writes_remaining: null,
  approval_required_above_minor: null,
  currency: null,
};

/** One fault for each gate. If a gate has none, this does not compile. */
export const faults: { readonly [Gate in GateName]: Fault } = {
  request: {
    code: 'MALFORMED_ARGUMENTS',
    // a value that no type permits
    spoil: ({ intent, facts }) => ({ facts, intent: { ...intent, args: null as never } }),
  },
  fence: knownFact('fence', [frozen], 'SYSTEM_FROZEN'),
  policy: knownFact('policy', null, 'POLICY_MISSING'),
  identity: knownFact(
    'identity',
    { credential: 'agent_token', credential_id: 'self-test', credential_state: 'active', enrolment: 'revoked' },
    'AGENT_REVOKED',
  ),
  relationship: knownFact(
    'relationship',
    { snapshot_hash: 'old', age_ms: 2, age_max_ms: 1, relations: {}, required: [] },
    'AUTHZ_SNAPSHOT_STALE',
  ),
  registry: knownFact('registry', toolOf('pinned', {}), 'SCHEMA_DRIFT'),
  arguments: knownFact('registry', toolOf('current', { type: 'object', required: ['absent'] }), 'SCHEMA_VIOLATION'),
  scopes: knownFact('scopes', { required: ['needed'], granted: [] }, 'INSUFFICIENT_SCOPE'),
  sandbox: knownFact('sandbox', { grant_hash: null, required: true, overgrants: [] }, 'SANDBOX_GRANT_MISSING'),
  egress: knownFact('egress', { destination: 'elsewhere', allowed: false, detail: 'not allowed' }, 'EGRESS_BLOCKED'),
  provenance: knownFact('provenance', { through_boundary: false }, 'DIRECT_UPSTREAM_BYPASS'),
  rules: { tool: 'unknown.tool', code: 'NO_MATCHING_RULE', spoil: (judged) => judged },
  budget: knownFact('budgets', [spent], 'BUDGET_EXCEEDED'),
  approval: {
    ...knownFact(
      'approval',
      { approval_id: 'a', state: 'approved', intent_hash: 'another', policy_hash: null, approved_by: [] },
      'APPROVAL_MISMATCH',
    ),
    tool: 'ask.person',
  },
};
