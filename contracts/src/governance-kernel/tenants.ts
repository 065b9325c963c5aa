import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, TenantId } from '../scalars.ts';

/** The id of the organisation at the control plane. */
export const OrgId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'may hold letters, digits and . _ : -')
  .brand<'OrgId'>();
export type OrgId = z.infer<typeof OrgId>;

const PlacedTenant = z.strictObject({
  tenant_id: TenantId,
  /** `null` when the tenant belongs to no organisation. */
  org_id: OrgId.nullable(),
  version: ControlVersion,
  updated_at: Instant,
});

export const putTenant = defineRoute({
  operation: 'put-tenant',
  summary:
    'Set the organisation of a tenant, sealed. Fences of the organisation apply to the tenant immediately. The ' +
    'version only rises. Repeating the current version confirms it.',
  method: 'PUT',
  path: '/internal/tenants/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({ version: ControlVersion, org_id: OrgId.nullable() }),
  reply: PlacedTenant,
  errors: ['ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});
