import { instantOf, AppError, type DecisionId, type Digest, type Instant, type TenantId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { activationSignatures, type SignatureRow } from '../controls/policy/activation-signatures.ts';
import type { StoredPolicies } from '../controls/policy/policies.ts';
import type { PolicyHead } from '../controls/policy/policy-heads.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';
import { storedBundle } from '../controls/policy/stored-bundle.ts';

/** Several statements give a consistent result, since the bundle of an epoch never changes. */
export async function listStoredPolicies(reader: Reader, tenants: string[]): Promise<StoredPolicies> {
  const heads = await reader.policyHead.findMany({ where: { tenant_id: { in: tenants } } });
  const named = heads.map(({ tenant_id, epoch }) => ({ tenant_id, epoch }));
  const [bundles, ...last] = await Promise.all([
    reader.policyBundle.findMany({ where: { OR: named }, select: { tenant_id: true, bundle: true } }),
    ...tenants.map((tenant) => findLastActivation(reader, tenant)),
  ]);
  const active = bundles.flatMap(({ tenant_id, bundle }) => {
    const head = heads.find((row) => row.tenant_id === tenant_id);
    return head === undefined ? [] : [{ head: headOf(head), bundle }];
  });
  return { active, activated: last.filter((head) => head !== null) };
}

/** Omits the bundle, which may be large. */
async function findLastActivation(reader: Reader, tenant: string): Promise<PolicyHead | null> {
  const row = await reader.policyBundle.findFirst({
    where: { tenant_id: tenant },
    orderBy: { epoch: 'desc' },
    omit: { bundle: true },
  });
  return row === null ? null : headOf({ ...row, confirmed_at: row.activated_at });
}

/** The limit of heads that are searched for a signed one. */
const freshHeadsMax = 100;

/** Selects the policies of conformance runs. The kernel itself sets them, and they belong to no tenant. */
const ofRuns = { startsWith: 'conformance:' };

/**
 * Heads whose time lies within this window, newest first, except those of `besides` and of conformance runs. `any`:
 * whether there are such heads of any time.
 */
export async function listFreshHeads(
  reader: Reader,
  { from, to, besides }: { from: Date; to: Date; besides: string },
): Promise<{ fresh: PolicyHead[]; any: boolean }> {
  const others = { NOT: [{ tenant_id: besides }, { tenant_id: ofRuns }] };
  const rows = await reader.policyHead.findMany({
    where: { ...others, confirmed_at: { gte: from, lte: to } },
    orderBy: { confirmed_at: 'desc' },
    take: freshHeadsMax,
  });
  const any = rows.length > 0 || (await reader.policyHead.findFirst({ where: others })) !== null;
  return { fresh: rows.map(headOf), any };
}

type HeadRow = {
  tenant_id: string;
  epoch: number;
  policy_hash: string;
  confirmed_at: Date;
  key_id: string;
  signature: string;
};

function headOf(row: HeadRow): PolicyHead {
  return {
    tenant: row.tenant_id,
    epoch: row.epoch,
    hash: row.policy_hash as Digest, // only the kernel writes these rows
    confirmedAtMs: row.confirmed_at.getTime(),
    keyId: row.key_id,
    signature: row.signature,
  };
}

/** The activation time of this epoch. Confirmations do not move it. */
export async function getActivationTime(
  reader: Reader,
  { tenant, epoch }: { tenant: string; epoch: number },
): Promise<Instant> {
  const row = await reader.policyBundle.findUnique({ where: { tenant_id_epoch: { tenant_id: tenant, epoch } } });
  if (row === null) throw new AppError('NOT_FOUND', 'No policy was activated for this tenant at this epoch');
  return instantOf(row.activated_at);
}

/** The signed statement that activates the policy of this decision. `null` when none was signed. */
export async function findSignature(reader: Reader, tenant: TenantId, id: DecisionId): Promise<SignatureRow | null> {
  const where = { tenant_id_decision_id: { tenant_id: tenant, decision_id: id } };
  const row = await reader.activationSignature.findUnique({ where });
  return row === null ? null : activationSignatures.rowOf(asStored(row));
}

/** The bundle that was activated under this epoch. */
export async function findBundle(reader: Reader, tenant: TenantId, epoch: number): Promise<PolicyBundle | null> {
  const row = await reader.policyBundle.findUnique({ where: { tenant_id_epoch: { tenant_id: tenant, epoch } } });
  return row === null ? null : storedBundle(row.bundle);
}

type InForce = { head: PolicyHead; bundle: PolicyBundle; nextEpoch: number };

/** The hash of the active bundle of a tenant. `null` when there is none. */
export async function findActiveHash(reader: Reader, tenant: TenantId): Promise<Digest | null> {
  const heads = await reader.policyHead.findMany({ where: { tenant_id: { in: [tenant, '*'] } } });
  const head = heads.find(({ tenant_id }) => tenant_id === tenant) ?? heads[0];
  return head === undefined ? null : headOf(head).hash;
}

/** The active policy of a tenant, and the epoch of its own next bundle. */
export async function findInForce(reader: Reader, tenant: TenantId): Promise<InForce | null> {
  const { active, activated } = await listStoredPolicies(reader, [tenant, '*']);
  const stored = active.find(({ head }) => head.tenant === tenant) ?? active.find(({ head }) => head.tenant === '*');
  if (stored === undefined) return null;
  const last = activated.find((head) => head.tenant === tenant)?.epoch ?? 0;
  return { head: stored.head, bundle: storedBundle(stored.bundle), nextEpoch: last + 1 };
}

/** Searches the tenant's own bundles and the bundles of all tenants (`*`). */
export async function findBundleOfHash(reader: Reader, tenant: TenantId, hash: Digest): Promise<PolicyBundle | null> {
  const row = await reader.policyBundle.findFirst({
    where: { tenant_id: { in: [tenant, '*'] }, policy_hash: hash },
    select: { bundle: true },
  });
  return row === null ? null : storedBundle(row.bundle);
}
