import type { TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, integer, nullable, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** The organisation of a tenant, as stated by the service that manages organisations. `null` for none. */
export type TenantOrg = {
  readonly tenant: TenantId;
  readonly org: OrgId | null;
  readonly version: number;
  readonly updatedAtMs: number;
};

export const tenantOrgs: Control<TenantId, TenantOrg> = {
  name: 'tenant_orgs',
  guard: 'epoch',
  ...selectByKey('tenant_orgs', ['tenant_id']),
  ...columnsOf<TenantOrg>({
    tenant: text('tenant_id'),
    org: nullable(text('org_id')),
    version: integer('version'),
    updatedAtMs: instantMs('updated_at'),
  }),
  writes: { table: 'tenant_orgs', primaryKey: ['tenant_id'], put: { kind: 'upsert' } },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};
