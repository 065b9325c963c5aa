import type { TenantId } from '@countersign/contracts';

/** In whose chain a change of a tenant's settings is told; what is set for everybody (`*`) belongs to the system's own tenant. */
export function receiptTenant(tenant: string): TenantId {
  return (tenant === '*' ? 'system' : tenant) as TenantId; // PolicyTenant bounds the rest the same way
}
