import type { Digest } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '../src/index.ts';
import type { CompiledPolicy, Facts, IdentityFact, Intent } from '../src/index.ts';

export const frozenNow = '2026-03-01T12:00:00.000Z';
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const judgedHash = digest('f');

/** The relation of a viewer with the document that the call names. */
export const viewer = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };

export function policyOf(rules: object[], tests: object[] = [], relations?: object): CompiledPolicy {
  return compilePolicy(bundleOf(rules, tests, relations), nodeProvider);
}

export function bundleOf(rules: object[], tests: object[] = [], relations?: object): PolicyBundle {
  const relationsFact = relations === undefined ? {} : { relations };
  return parsePolicyBundle({
    format: 'countersign/policy.v1',
    name: 'test',
    version: '1',
    rules,
    tests,
    ...relationsFact,
  });
}

export function intentOf(changes: Partial<Intent> = {}): Intent {
  return {
    tenant: 'acme',
    principal: 'agent-1',
    session: 'session-1',
    action: 'tool.call',
    tool: 'files.read',
    resource: 'file:/notes.txt',
    effect_level: 'E1',
    args: { path: '/notes.txt' },
    context: {},
    args_hash: digest('a'),
    intent_hash: digest('b'),
    ...changes,
  };
}

/** The facts about an active policy. */
export const signedPolicy = {
  epoch: 1,
  signature_valid: true,
  is_newest: true,
  missing_ceiling: null,
  age_ms: 10,
  age_max_ms: 1000,
};

/** Facts under which every gate passes. */
export function factsFor(policy: CompiledPolicy | null, changes: Partial<Facts> = {}): Facts {
  return {
    now: frozenNow,
    request: knownFact({ fault: null }),
    fence: knownFact([]),
    settings: knownFact({ received: true }),
    policy: knownFact(policy && { ...signedPolicy, hash: policy.hash }),
    identity: knownFact(identityOf({})),
    relationship: knownFact({
      snapshot_hash: digest('c'),
      age_ms: 10,
      age_max_ms: 1000,
      relations: { viewer: true },
      required: [],
    }),
    registry: knownFact({ server_id: 'files', state: 'approved', tool: toolOf({}) }),
    scopes: knownFact({ required: ['files:read'], granted: ['files:read', 'files:write'] }),
    sandbox: knownFact({ grant_hash: digest('d'), required: true, overgrants: [] }),
    egress: knownFact({ destination: 'example.org', allowed: true, detail: 'example.org' }),
    provenance: knownFact({ through_boundary: true }),
    block: knownFact({ tool_blocked: false }),
    budgets: knownFact([budgetOf({})]),
    demand: { tool_calls: 1, spend_micros: 10_000_000n, egress_bytes: 100, writes: 0 },
    judged_hash: judgedHash,
    approval: knownFact(null),
    ...changes,
  };
}

export function toolOf(changes: object) {
  const input_schema: Record<string, unknown> = {
    type: 'object',
    properties: { path: { type: 'string' } },
    additionalProperties: false,
  };
  return { pinned_hash: digest('e'), current_hash: digest('e'), input_schema, ...changes };
}

export function budgetOf(changes: object) {
  return {
    budget_id: 'daily',
    tool_calls_remaining: 5,
    spend_remaining_micros: 1_000_000_000n,
    egress_remaining_bytes: null,
    writes_remaining: 5,
    approval_required_above_minor: null,
    currency: 'EUR',
    ...changes,
  };
}

export function grantFor(policy: CompiledPolicy, intent: Intent, changes: object = {}) {
  return {
    approval_id: 'apr_1',
    state: 'approved' as const,
    intent_hash: intent.intent_hash,
    judged_hash: judgedHash,
    policy_hash: policy.hash,
    preconditions: { tool_definition_hash: digest('e') as Digest | null, budgets: null },
    approved_by: ['alice', 'bob'],
    broken_by: null,
    scope: 'once',
    timeout: 900,
    timelock: 0,
    locked_until: null,
    uses_remaining: 1,
    expired: false,
    rejection_reason: null,
    ...changes,
  };
}

export function knownFact<Value>(value: Value): { state: 'known'; value: Value } {
  return { state: 'known', value };
}

/** An enrolled agent with its own token. */
export function identityOf(changes: Partial<IdentityFact>): IdentityFact {
  const proven = { credential: 'agent_token', credential_id: 'kid', credential_state: 'active' } as const;
  return { ...proven, enrolment: 'active', ...changes };
}
