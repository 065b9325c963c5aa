import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant, ReceiptId, TelemetryExportId, TenantId } from '../scalars.ts';

const TenantQuery = z.strictObject({ tenant_id: z.string().optional() });

export const getOtelConfig = defineRoute({
  operation: 'get-otel-config',
  summary: 'Get the telemetry export settings, without credentials.',
  method: 'GET',
  path: '/api/v1/telemetry/otel/config',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({
    service_name: z.string(),
    signal_type: z.literal('otel'),
    /** Always `false`, since receipts are authoritative. */
    authoritative: z.literal(false),
    exporting: z.boolean(),
    /** The address, without user, password and query. `null` when none is configured. */
    endpoint: z.string().nullable(),
    /** Only the names of the headers, not their values. */
    header_names: z.array(z.string()),
    exported_signals: z.array(z.enum(['traces', 'metrics'])),
    span_attributes: z.record(z.string(), z.union([z.string(), z.boolean()])),
  }),
});

export const getCoexistenceCapabilities = defineRoute({
  operation: 'get-coexistence-capabilities',
  summary: 'Get the telemetry formats that the kernel reads and writes, and the authoritative source.',
  method: 'GET',
  path: '/api/v1/coexistence/capabilities',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({
    manifest_id: z.string(),
    /** The evidence that proves decisions. */
    authority: z.literal('native-receipts'),
    boundary_role: z.string(),
    supported_inputs: z.array(z.string()),
    export_surfaces: z.array(z.string()),
    receipt_bindings: z.array(z.string()),
    generated_at: Instant,
  }),
});

/**
 * The most receipts of one export. The collector gets one request for all of them, and the operator waits for its
 * answer.
 */
export const exportedReceiptsMax = 100;

const receiptsOfTenant = 'must be sent together with receipt_ids';

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
    'Send current metrics, and a span for each of these sealed receipts, to the collector. Returns after its ' +
    'answer. Failed deliveries are reported in `traces` and `metrics`, with status 200.',
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
      error: 'must name each receipt once',
    }),
  reply: z.strictObject({
    export_id: TelemetryExportId,
    format: z.literal('otlp'),
    /** Always `false`, since receipts are authoritative. */
    authoritative: z.literal(false),
    /** Whether the collector accepted everything. */
    exported: z.boolean(),
    /** The address of the collector, without user, password and query. `null` when none is configured. */
    endpoint: z.string().nullable(),
    traces: TelemetryDelivery,
    metrics: TelemetryDelivery,
    /** The attributes of everything that was sent. */
    attributes: z.record(z.string(), z.union([z.string(), z.boolean()])),
    exported_at: Instant,
  }),
  errors: ['NOT_FOUND'],
});
