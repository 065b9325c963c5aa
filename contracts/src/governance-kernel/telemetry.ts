import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant, ReceiptId, TelemetryExportId, TenantId } from '../scalars.ts';

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
  summary: 'The telemetry that the kernel takes from other systems and gives to them, and its authoritative source.',
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

/** A collector is sent one request for all of them, and an operator waits for its answer. */
export const exportedReceiptsMax = 100;

const receiptsOfTenant = 'must be named together with receipt_ids, and neither without the other';

/** The result of one request to the collector, without its answer, which may contain anything. */
export const TelemetryDelivery = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('sent'), count: z.int().min(1) }),
  z.strictObject({ state: z.literal('nothing') }),
  z.strictObject({ state: z.literal('refused'), status: z.int() }),
  z.strictObject({ state: z.literal('unanswered') }),
  z.strictObject({ state: z.literal('not_configured') }),
]);
export type TelemetryDelivery = z.infer<typeof TelemetryDelivery>;

export const exportTelemetry = defineRoute({
  operation: 'export-telemetry',
  summary:
    'Send the measures of now, and a span for each of these sealed receipts, to the collector; answer once it has answered. Receipts ' +
    'stay the authority. Failed deliveries are reported in `traces` and `metrics`, and are no error.',
  method: 'POST',
  path: '/api/v1/telemetry/export',
  auth: 'admin',
  idempotency: 'key',
  body: z
    .strictObject({
      format: z.literal('otlp').default('otlp'),
      tenant_id: TenantId.optional(),
      receipt_ids: z.array(ReceiptId).max(exportedReceiptsMax).default([]),
    })
    .refine((body) => (body.tenant_id === undefined) === (body.receipt_ids.length === 0), {
      path: ['tenant_id'],
      error: receiptsOfTenant,
    })
    .refine((body) => new Set(body.receipt_ids).size === body.receipt_ids.length, {
      path: ['receipt_ids'],
      error: 'may name each receipt once',
    }),
  reply: z.strictObject({
    export_id: TelemetryExportId,
    format: z.literal('otlp'),
    /** Receipts are. */
    authoritative: z.literal(false),
    /** Whether everything that there was to send was taken. */
    exported: z.boolean(),
    endpoint: z.string().nullable(),
    traces: TelemetryDelivery,
    metrics: TelemetryDelivery,
    /** The attributes of everything that was sent. */
    attributes: z.record(z.string(), z.union([z.string(), z.boolean()])),
    exported_at: Instant,
  }),
  errors: ['NOT_FOUND'],
});
