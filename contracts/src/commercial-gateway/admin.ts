import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, Currency, Instant, storableText, UserId } from '../scalars.ts';
import { Quantity } from './amounts.ts';
import { CreditGrant } from './billing.ts';
import { EntitlementOverride } from './entitlements.ts';
import { CreditGrantKind } from './invoices.ts';
import { Meter } from './meter.ts';
import { BillingPlanId, PlanVersionNumber } from './plan-terms.ts';
import { SubscriptionStatus } from './subscriptions.ts';

const OrgPath = z.strictObject({ org_id: z.string().min(1).max(128) });

const Reason = storableText({ min: 1, max: 500 });

const OrgSettings = z.strictObject({
  /** `null` when the organisation is not suspended. A suspended organisation starts no new runs. */
  suspension: z.strictObject({ reason: Reason, suspended_by: UserId, suspended_at: Instant }).nullable(),
  /** `null` when the organisation has no override. */
  override: EntitlementOverride.nullable(),
});
export type OrgSettings = z.infer<typeof OrgSettings>;

const AdministeredOrg = z.strictObject({
  org_id: OrgId,
  name: z.string(),
  admin_id: UserId,
  /** `null` when the organisation has no subscription, or only canceled ones. */
  subscription: z
    .strictObject({ plan_id: BillingPlanId, plan_version: PlanVersionNumber, status: SubscriptionStatus })
    .nullable(),
  /** Usage of the calendar month in UTC by meter. Meters without usage are omitted. */
  usage: z.array(z.strictObject({ meter: Meter, quantity: Quantity })),
  /** Seconds from the time of the last stored usage event until it was stored. `null` without usage. */
  metering_lag_seconds: z.int().min(0).nullable(),
  ...OrgSettings.shape,
});
export type AdministeredOrg = z.infer<typeof AdministeredOrg>;

export const listAdministeredOrgs = defineRoute({
  operation: 'list-administered-orgs',
  summary: 'List the organisations of the installation by id, with plan, usage, metering lag, suspension and override.',
  method: 'GET',
  path: '/api/commercial/admin/orgs',
  auth: 'commercial_admin',
  forward: {},
  query: z.strictObject(PageQuery),
  reply: page(AdministeredOrg),
});

export const putOrgSettings = defineRoute({
  operation: 'put-org-settings',
  summary: 'Suspend or resume an organisation, and set or remove its override. A repeated request changes nothing.',
  method: 'PUT',
  idempotency: { exempt: 'repeatable' },
  path: '/api/commercial/admin/orgs/{org_id}',
  auth: 'commercial_admin',
  forward: {},
  params: OrgPath,
  body: z.strictObject({
    /** `null` resumes the organisation. */
    suspension: z.strictObject({ reason: Reason }).nullable(),
    /** `null` removes the override. */
    override: EntitlementOverride.omit({ created_at: true }).nullable(),
  }),
  reply: OrgSettings,
  errors: ['NOT_FOUND'],
});

export const grantOrgCredit = defineRoute({
  operation: 'grant-org-credit',
  summary: 'Grant credit to an organisation, once per reference. Credits pay invoices when they are finalized.',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/commercial/admin/orgs/{org_id}/credits',
  auth: 'commercial_admin',
  forward: {},
  params: OrgPath,
  body: z.strictObject({
    kind: CreditGrantKind,
    currency: Currency,
    amount_minor: AmountMinor.min(1),
    /** `null` when the grant does not expire. */
    expires_at: Instant.nullable(),
    reason: Reason,
    /** Identifies the grant within the organisation. */
    reference: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters'),
  }),
  reply: CreditGrant,
  errors: ['NOT_FOUND', 'IDEMPOTENCY_KEY_REUSED'],
});
