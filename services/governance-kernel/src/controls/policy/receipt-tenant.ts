import type { TenantId } from '@countersign/contracts';

/**
 * The tenant whose chain records a change of settings. Changes for all tenants (`*`) are in the chain of `system`.
 */
export function receiptTenant(tenant: string): TenantId {
  return (tenant === '*' ? 'system' : tenant) as TenantId; // apart from `*`, PolicyTenant accepts the same names
}
