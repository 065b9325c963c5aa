import { instantOf } from '@countersign/contracts';
import { putTenant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { placeTenant } from '../../controls/fences/place-tenant.ts';
import { handleSystem } from '../../handle.ts';

/** Sets the organisation of a tenant, with the version that the caller assigned. */
export const putTenantRoute = (kernel: Context) =>
  handleSystem(putTenant)(async ({ params: { tenant }, body: { version, org_id: org }, caller }) => {
    const placed = await placeTenant(kernel, { tenant, org, version, by: caller.principal });
    const updated_at = instantOf(placed.updatedAtMs);
    return { tenant_id: tenant, org_id: placed.org, version: placed.version, updated_at };
  });
