import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, TenantId } from '../scalars.ts';

/** The id that the service for organisations uses. */
export const OrgId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'may hold letters, digits and . _ : -')
  .brand<'OrgId'>();
export type OrgId = z.infer<typeof OrgId>;

const PlacedTenant = z.strictObject({
  tenant_id: TenantId,
  /** Null: of none. */
  org_id: OrgId.nullable(),
  version: ControlVersion,
  updated_at: Instant,
});

export const putTenant = defineRoute({
  operation: 'put-tenant',
  summary:
    'Say which organisation a tenant belongs to, sealed: a fence around the organisation stands around the tenant from the answer on. Its ' +
    'version is that of its source and only rises; the same version again confirms it.',
  method: 'PUT',
  path: '/internal/tenants/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({ version: ControlVersion, org_id: OrgId.nullable() }),
  reply: PlacedTenant,
  errors: ['ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});
