import type { EffectLevel, UserId, WorkspaceId } from '@countersign/contracts';
import { leastEffectOf } from '@countersign/contracts/governance-kernel';
import { decide, type CompiledPolicy, type Facts, type Intent } from '@countersign/policy';

type Input = { workspaceId: WorkspaceId; owners: readonly UserId[]; now: Date };
type OfOne = Omit<Input, 'owners'> & { userId: UserId };

/**
 * Whether no owner could change the policy again under this policy. An owner needs changes both at the lowest effect
 * level and at E3. All other facts are assumed to be favourable: no fence, nothing spent, all relations present.
 */
export function isLockedOut(policy: CompiledPolicy, { owners, ...query }: Input): boolean {
  return owners.every((userId) => isDenied(policy, { ...query, userId }));
}

function isDenied(policy: CompiledPolicy, request: OfOne): boolean {
  // A change that widens the policy is E3, so a policy that permits only lower levels could only become stricter.
  const effects: EffectLevel[] = [leastEffectOf('policy.change'), 'E3'];
  return effects.some(
    (effect) => decide(policy, changeOf(effect, request), factsFor(policy, request)).verdict === 'DENY',
  );
}

const someHash = `sha256:${'0'.repeat(64)}`;

function changeOf(effect_level: EffectLevel, { workspaceId, userId }: OfOne): Intent {
  return {
    ...{ tenant: workspaceId, principal: userId, session: 'console:policy', action: 'policy.change', tool: null },
    resource: `policy/${someHash}?report=${someHash}`,
    ...{ effect_level, args: {}, context: {}, args_hash: someHash, intent_hash: someHash },
  };
}

const notApplicable = { state: 'not_applicable' } as const;

function factsFor(policy: CompiledPolicy, { now }: OfOne): Facts {
  const signed = { epoch: 1, signature_valid: true, is_newest: true, missing_ceiling: null, age_ms: 0, age_max_ms: 0 };
  const relations = Object.fromEntries([...policy.relations.keys()].map((name) => [name, true]));
  const snapshot = { snapshot_hash: someHash, age_ms: 0, age_max_ms: 0, relations, required: [] };
  return {
    now: now.toISOString(),
    request: { state: 'known', value: { fault: null } },
    fence: { state: 'known', value: [] },
    settings: notApplicable,
    policy: { state: 'known', value: { hash: policy.hash, ...signed } },
    identity: {
      state: 'known',
      value: { credential: 'assertion', credential_id: null, credential_state: 'active', enrolment: 'none' },
    },
    relationship: { state: 'known', value: snapshot },
    ...{ registry: notApplicable, scopes: notApplicable, sandbox: notApplicable },
    ...{ egress: notApplicable, provenance: notApplicable },
    block: { state: 'known', value: { tool_blocked: false } },
    budgets: { state: 'known', value: [] },
    demand: { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 },
    judged_hash: someHash,
    approval: { state: 'known', value: null },
  };
}
