import { BudgetId, PrincipalId, type TenantId } from '@countersign/contracts';
import {
  PolicyBundle,
  tenantOfVector,
  writeRelationships,
  type LiveVector,
  type OrgId,
  type RelationTuple,
} from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { createKey, revokeKey } from '../../controls/access-keys/change-keys.ts';
import { changeBudget } from '../../controls/budgets/change-budget.ts';
import type { Caller } from '../../call/governed-call.ts';
import { placeTenant } from '../../controls/fences/place-tenant.ts';
import { setFence } from '../../controls/fences/set-fence.ts';
import { setApprovalTerms } from '../../controls/passkeys/set-approval-terms.ts';
import { blockTools } from '../../controls/policy/block-tools.ts';
import { keepActive, type KeepDeps } from '../../controls/policy/keep-active.ts';
import { setCeilings } from '../../controls/policy/set-ceilings.ts';
import { changeRelationships } from '../../controls/relations/change-relations.ts';
import { scopeOfFence, vectorPrincipal } from './tenants.ts';
import type { ConformanceDeps } from './run-vectors.ts';

export type Arranged = {
  tenant: TenantId;
  /** Secrets of the vector's keys, by name. */
  keys: ReadonlyMap<string, string>;
};

const by = PrincipalId.parse('conformance');

type Deps = Pick<
  ConformanceDeps,
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
type Options = LiveVector['given'];

/**
 * Sets up the tenant of a vector as the vector specifies, and seals each setting as for any tenant. The caller has
 * removed the settings of an earlier run.
 */
export async function arrangeTenant(deps: Deps, { id, given }: LiveVector): Promise<Arranged> {
  const tenant = tenantOfVector(id);
  await activateRules(deps, tenant, given);
  for (const fence of given.fences) await raiseFence(deps, tenant, fence);
  if (given.budget !== null) await setBudget(deps, tenant, given.budget);
  if (given.blocked_tools.length > 0) await blockTools(deps, { tenant, version: 1, tools: given.blocked_tools, by });
  await setBounds(deps, tenant, given);
  const keys = new Map<string, string>();
  for (const key of given.keys) keys.set(key.name, await makeKey(deps, tenant, key));
  return { tenant, keys };
}

/** Sets the tenant's ceilings, tuples and approval terms. */
async function setBounds(deps: Deps, tenant: TenantId, options: Options): Promise<void> {
  const { ceilings: rules, tuples, signatures_only: signaturesOnly } = options;
  const first = { tenant, version: 1 };
  if (rules.length > 0) {
    const alone = { activation: null, needsDecision: false, assertMatch: () => undefined };
    await setCeilings(deps, { ...first, ...alone, rules, setBy: by });
  }
  if (tuples.length > 0) await writeTuples(deps, tenant, tuples);
  if (signaturesOnly) await setApprovalTerms(deps, { ...first, signaturesOnly, breakGlass: false, by });
}

async function writeTuples(deps: Deps, tenant: TenantId, writes: readonly RelationTuple[]): Promise<void> {
  const batch = writeRelationships.body?.parse({ tenant_id: tenant, writes });
  if (batch !== undefined) await changeRelationships(deps, by, batch);
}

async function activateRules(deps: Deps, tenant: TenantId, { rules, tools, relations }: Options): Promise<void> {
  const bundle = PolicyBundle.parse({
    format: 'countersign/policy.v1',
    name: 'conformance',
    version: '1',
    rules,
    tools,
    relations,
  });
  const policyHash = (await deps.policies.compile(bundle)).hash;
  await keepActive(keepParts(deps), { tenant, bundle, policyHash, by, replaces: true });
}

/** A recent confirmation of the policy is not repeated, so that a run seals few confirmations. */
function keepParts({ policies, signers, clock, config }: Deps): KeepDeps {
  const { keyId, sign } = signers.policies;
  return {
    policies,
    clock,
    sign: (bytes) => ({ alg: 'Ed25519', key_id: keyId, value: encodeBase64Url(sign(bytes)) }),
    confirmEveryMs: config.policyAgeMaxMs / 4,
  };
}

async function raiseFence(deps: Deps, tenant: TenantId, fence: Options['fences'][number]): Promise<void> {
  const { kind, call_limit = null } = fence;
  const org = tenant as string as OrgId; // the tenant's name is a valid org ID
  if (fence.scope === 'org') await placeTenant(deps, { tenant, org, version: 1, by });
  await setFence(deps, {
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

async function setBudget(deps: Deps, tenant: TenantId, budget: NonNullable<Options['budget']>): Promise<void> {
  const { spend_limit_minor: spend, approval_required_above_minor: asksAbove } = budget;
  const currency = spend === null && asksAbove === null ? null : (deps.config.priceCurrency ?? 'EUR');
  await changeBudget(deps, {
    tenant,
    id: BudgetId.parse('conformance'),
    terms: { ...budget, subject: 'tenant', window: 'total', currency, write_limit: null },
    by,
    versionAfter: (current) => (current === null ? 1 : current.version + 1),
    carryOn: (row) => row,
  });
}

async function makeKey({ cycle, ...segments }: Deps, tenant: TenantId, key: Options['keys'][number]): Promise<string> {
  const caller: Caller = { tenant, principal: by, scopes: ['*'] };
  const keyParts = { ...segments, hasher: cycle.hasher };
  const terms = { kind: 'agent' as const, principal_id: vectorPrincipal, doors: key.doors, expires_in_days: 1 };
  const made = await createKey(keyParts, caller, key.tools === undefined ? terms : { ...terms, tools: key.tools });
  if (key.revoked) await revokeKey(keyParts, caller, made.key.id);
  return made.secret;
}
