import type { Instant } from '@countersign/contracts';
import { putTenant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { placeTenant } from '../fences/place-tenant.ts';
import { handleSystem } from '../handle.ts';

/** Says which organisation a tenant belongs to, under the version that its source gives it. */
export const putTenantRoute = (kernel: Context) =>
  handleSystem(putTenant)(async ({ params: { tenant }, body: { version, org_id: org }, caller }) => {
    const placed = await placeTenant(kernel, { tenant, org, version, by: caller.principal });
    const updated_at = new Date(placed.updatedAtMs).toISOString() as Instant; // toISOString writes exactly this form
    return { tenant_id: tenant, org_id: placed.org, version: placed.version, updated_at };
  });
