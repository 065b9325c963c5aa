import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';

const TenantQuery = z.strictObject({ tenant_id: z.string().optional() });

export const getOtelConfig = defineRoute({
  operation: 'get-otel-config',
  summary: 'Whether and where telemetry is exported, without its credentials.',
  method: 'GET',
  path: '/api/v1/telemetry/otel/config',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({
    service_name: z.string(),
    signal_type: z.literal('otel'),
    /** Receipts are. */
    authoritative: z.literal(false),
    exporting: z.boolean(),
    /** Null: none is configured. Without user, password and query. */
    endpoint: z.string().nullable(),
    /** Names alone. */
    header_names: z.array(z.string()),
    exported_signals: z.array(z.enum(['traces', 'metrics'])),
    span_attributes: z.record(z.string(), z.union([z.string(), z.boolean()])),
  }),
});

export const getCoexistenceCapabilities = defineRoute({
  operation: 'get-coexistence-capabilities',
  summary: 'What the kernel takes from other systems and gives to them, and what stays the authority.',
  method: 'GET',
  path: '/api/v1/coexistence/capabilities',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({
    manifest_id: z.string(),
    authority: z.literal('native-receipts'),
    boundary_role: z.string(),
    supported_inputs: z.array(z.string()),
    export_surfaces: z.array(z.string()),
    receipt_bindings: z.array(z.string()),
    generated_at: Instant,
  }),
});
