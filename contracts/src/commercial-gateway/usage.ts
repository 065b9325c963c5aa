import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { Currency, Instant, InvoiceId } from '../scalars.ts';
import { MinorUnits, Quantity } from './amounts.ts';
import { TenantPath } from './billing-path.ts';
import { Meter } from './meter.ts';

export const RatedTier = z.strictObject({
  /** Last unit of the tier, counted from the first unit after the included amount. `null` in the last tier. */
  up_to: z.int().nullable(),
  unit_amount_decimal: z.string(),
  quantity: Quantity,
});

export const RatedMeter = z.strictObject({
  meter: Meter,
  quantity: Quantity,
  /** Part of the quantity that costs nothing. */
  included: Quantity,
  /** Billable quantity by price tier. Tiers without quantity are omitted. */
  tiers: z.array(RatedTier),
  amount_minor: MinorUnits,
});
export type RatedMeter = z.infer<typeof RatedMeter>;

export const BillingPeriod = z.strictObject({ start: Instant, end: Instant });

const PreviousPeriod = z.strictObject({
  invoice_id: InvoiceId,
  period: BillingPeriod,
  currency: Currency,
  subtotal_minor: MinorUnits,
  meters: z.array(RatedMeter),
});

/** Enough for a year of monthly periods. */
export const previousPeriodsMax = 12;

export const UsageReport = z.strictObject({
  /** The period in progress. Without a subscription it is the calendar month in UTC. */
  period: BillingPeriod,
  /** `null` when the usage has no price. */
  currency: Currency.nullable(),
  meters: z.array(RatedMeter),
  /** Price of the usage so far, without the base price of the plan and without tax. */
  usage_minor: MinorUnits,
  /** Invoiced periods, the latest first. Void invoices are omitted. */
  previous: z.array(PreviousPeriod).max(previousPeriodsMax),
});
export type UsageReport = z.infer<typeof UsageReport>;

export const getUsage = defineRoute({
  operation: 'get-usage',
  summary: "Get the current period's usage by meter at invoice prices, and the invoiced periods.",
  method: 'GET',
  path: '/api/billing/tenants/{tenant_id}/usage',
  auth: 'session',
  forward: {},
  params: z.strictObject(TenantPath),
  reply: UsageReport,
  errors: ['NOT_FOUND'],
});

/** One statement stores the whole batch. */
export const usageEventsMax = 1_000;

const UsageEventBatch = z.strictObject({
  tenant_id: OrgId,
  /** CloudEvents of the type `usage.recorded.v1`. Each one is checked alone. */
  events: z.array(z.unknown()).min(1).max(usageEventsMax),
});

const UsageEventRejection = z.strictObject({
  /** Position in `events`, from 0. */
  index: z.int().min(0),
  code: z.enum(['INVALID_REQUEST', 'ALREADY_EXISTS']),
  /** The member of the event; `null` when the whole event is wrong. */
  param: z.string().nullable(),
  message: z.string(),
});
export type UsageEventRejection = z.infer<typeof UsageEventRejection>;

export const recordUsageEvents = defineRoute({
  operation: 'record-usage-events',
  summary: 'Store usage events, each once by source and id. Invalid events are returned, and all others are stored.',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/commercial/metering/events',
  auth: 'service_internal',
  // An event has up to 12 values.
  bodyValuesMax: 20_000,
  body: UsageEventBatch,
  reply: z.strictObject({
    stored: z.int().min(0),
    /** Events that were stored before, or occur twice in the batch. */
    known: z.int().min(0),
    rejected: z.int().min(0),
    rejections: z.array(UsageEventRejection),
  }),
  errors: ['NOT_FOUND'],
});
