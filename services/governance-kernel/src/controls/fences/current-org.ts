import type { TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { LedgerBatch } from '../../ledger/batch.ts';
import type { CachedState } from '../../ledger/cached-state.ts';
import type { KnownOrgs } from './known-orgs.ts';
import { tenantOrgs } from './tenant-orgs.ts';

type Fenced = { call: { caller: { tenant: TenantId } }; org: OrgId | null };

/** The organisation whose fences the batch reads. */
export function currentOrg(orgs: KnownOrgs): CachedState<TenantId, OrgId | null, Fenced> {
  return {
    name: 'The organisation of the tenant',
    current: (tenant) => orgs.of(tenant),
    isCurrent: (batch, { call, org }) => orgIn(batch, call.caller.tenant) === org,
    reload: ({ call: { caller } }, batch) => orgs.learn(caller.tenant, orgIn(batch, caller.tenant)),
  };
}

function orgIn(batch: LedgerBatch, tenant: TenantId): OrgId | null {
  return batch.row(tenantOrgs, tenant)?.org ?? null;
}
