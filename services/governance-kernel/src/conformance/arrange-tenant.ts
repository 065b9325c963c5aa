import type { BudgetId, Digest, PrincipalId, TenantId } from '@countersign/contracts';
import {
  PolicyBundle,
  tenantOfVector,
  writeRelationships,
  type LiveVector,
  type OrgId,
  type RelationTuple,
} from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { createKey, revokeKey } from '../access-keys/change-keys.ts';
import { changeBudget } from '../budgets/change-budget.ts';
import type { Caller } from '../call/governed-call.ts';
import { placeTenant } from '../fences/place-tenant.ts';
import { setFence } from '../fences/set-fence.ts';
import { setApprovalTerms } from '../passkeys/set-approval-terms.ts';
import { blockTools } from '../policy/block-tools.ts';
import { keepActive, type KeepParts } from '../policy/keep-active.ts';
import { setCeilings } from '../policy/set-ceilings.ts';
import { changeRelationships } from '../relations/change-relations.ts';
import { scopeOfFence, vectorPrincipal } from './tenants.ts';
import type { ConformanceParts } from './run-vectors.ts';

export type Arranged = {
  tenant: TenantId;
  /** Secrets of the vector's keys, by name. */
  keys: ReadonlyMap<string, string>;
};

const by = 'conformance' as PrincipalId; // within its schema

type Parts = Pick<
  ConformanceParts,
  | 'policies'
  | 'signers'
  | 'config'
  | 'clock'
  | 'clockGuard'
  | 'ledger'
  | 'provider'
  | 'newUlid'
  | 'newEvent'
  | 'cycle'
  | 'standingRelations'
  | 'relationTurns'
>;
type Given = LiveVector['given'];

/**
 * Sets the tenant of a vector up as the vector says, sealed like every setting. The state of an earlier run is gone by
 * now.
 */
export async function arrangeTenant(parts: Parts, { id, given }: LiveVector): Promise<Arranged> {
  const tenant = tenantOfVector(id);
  await activateRules(parts, tenant, given);
  for (const fence of given.fences) await raiseFence(parts, tenant, fence);
  if (given.budget !== null) await setBudget(parts, tenant, given.budget);
  if (given.blocked_tools.length > 0) await blockTools(parts, { tenant, version: 1, tools: given.blocked_tools, by });
  await setBounds(parts, tenant, given);
  const keys = new Map<string, string>();
  for (const key of given.keys) keys.set(key.name, await makeKey(parts, tenant, key));
  return { tenant, keys };
}

/** Sets the bounds around its rules. */
async function setBounds(parts: Parts, tenant: TenantId, given: Given): Promise<void> {
  const { ceilings: rules, tuples, signatures_only: signaturesOnly } = given;
  const first = { tenant, version: 1 };
  if (rules.length > 0) {
    const alone = { activation: null, needsDecision: false, assertMatch: () => undefined };
    await setCeilings(parts, { ...first, ...alone, rules, setBy: by });
  }
  if (tuples.length > 0) await writeTuples(parts, tenant, tuples);
  if (signaturesOnly) await setApprovalTerms(parts, { ...first, signaturesOnly, breakGlass: false, by });
}

async function writeTuples(parts: Parts, tenant: TenantId, writes: readonly RelationTuple[]): Promise<void> {
  const batch = writeRelationships.body?.parse({ tenant_id: tenant, writes });
  if (batch !== undefined) await changeRelationships(parts, by, batch);
}

async function activateRules(parts: Parts, tenant: TenantId, { rules, tools, relations }: Given): Promise<void> {
  const bundle = PolicyBundle.parse({
    format: 'countersign/policy.v1',
    name: 'conformance',
    version: '1',
    rules,
    tools,
    relations,
  });
  const policyHash = (await parts.policies.compile(bundle)).hash as Digest; // compilePolicy hashes with digestOf
  await keepActive(keepParts(parts), { tenant, bundle, policyHash, by, replaces: true });
}

/** A statement that is still fresh is left alone, so that a run seals few of them. */
function keepParts({ policies, signers, clock, config }: Parts): KeepParts {
  const { keyId, sign } = signers.policies;
  return {
    policies,
    clock,
    sign: (bytes) => ({ alg: 'Ed25519', key_id: keyId, value: encodeBase64Url(sign(bytes)) }),
    confirmEveryMs: config.policyAgeMaxMs / 4,
  };
}

async function raiseFence(parts: Parts, tenant: TenantId, fence: Given['fences'][number]): Promise<void> {
  const { kind, call_limit = null } = fence;
  const org = tenant as string as OrgId; // its name is one as well
  if (fence.scope === 'org') await placeTenant(parts, { tenant, org, version: 1, by });
  await setFence(parts, {
    scope: scopeOfFence(tenant, fence),
    kind,
    epoch: 1,
    reason: 'A conformance vector',
    call_limit,
    window_seconds: call_limit === null ? null : 3_600,
    expires_at: null,
    set_by: by,
  });
}

async function setBudget(parts: Parts, tenant: TenantId, budget: NonNullable<Given['budget']>): Promise<void> {
  const { spend_limit_minor: spend, approval_required_above_minor: asksAbove } = budget;
  const currency = spend === null && asksAbove === null ? null : (parts.config.priceCurrency ?? 'EUR');
  await changeBudget(parts, {
    tenant,
    id: 'conformance' as BudgetId, // within its schema
    terms: { ...budget, subject: 'tenant', window: 'total', currency, write_limit: null },
    by,
    versionAfter: (standing) => (standing === null ? 1 : standing.version + 1),
    carryOn: (row) => row,
  });
}

async function makeKey({ cycle, ...parts }: Parts, tenant: TenantId, key: Given['keys'][number]): Promise<string> {
  const caller: Caller = { tenant, principal: by, scopes: ['*'] };
  const keyParts = { ...parts, hasher: cycle.hasher };
  const terms = { kind: 'agent' as const, principal_id: vectorPrincipal, doors: key.doors, expires_in_days: 1 };
  const made = await createKey(keyParts, caller, key.tools === undefined ? terms : { ...terms, tools: key.tools });
  if (key.revoked) await revokeKey(keyParts, caller, made.key.id);
  return made.secret;
}
