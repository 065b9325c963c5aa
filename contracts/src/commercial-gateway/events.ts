import { z } from 'zod';
import { defineEvent } from '../event.ts';
import { EmailAddress } from '../email-address.ts';
import { workspacesPerOrg } from '../gateway/provisioning.ts';
import { OrgId } from '../governance-kernel/tenants.ts';
import { PersonRole } from '../person-assertion.ts';
import {
  Currency,
  CreditGrantId,
  Instant,
  InvoiceId,
  ScimUserId,
  SubscriptionId,
  UserId,
  WorkspaceId,
} from '../scalars.ts';
import { MinorUnits } from './amounts.ts';
import { CreditGrantKind, InvoiceStatus } from './invoices.ts';
import { EntitlementLimits, EntitlementSource } from './entitlements.ts';
import { IdentitySettings } from './identity.ts';
import { BillingPlanId, PlanCapabilities } from './plan-terms.ts';
import { SubscriptionStatus } from './subscriptions.ts';

const forAccounting = 'accounting systems of the operator';

/** The invoice was created, or its status, payments or refunds changed. */
export const invoiceUpdated = defineEvent({
  type: 'invoice.updated.v1',
  data: z.strictObject({
    org_id: OrgId,
    invoice_id: InvoiceId,
    /** `null` when the invoice was created. */
    from: InvoiceStatus.nullable(),
    status: InvoiceStatus,
    currency: Currency,
    total_minor: MinorUnits,
    credited_minor: MinorUnits,
    paid_minor: MinorUnits,
    refunded_minor: MinorUnits,
  }),
  forOthers: forAccounting,
});

/** A credit grant was created or expired. */
export const creditGrantUpdated = defineEvent({
  type: 'credit-grant.updated.v1',
  data: z.strictObject({
    org_id: OrgId,
    credit_grant_id: CreditGrantId,
    kind: CreditGrantKind,
    currency: Currency,
    amount_minor: MinorUnits,
    remaining_minor: MinorUnits,
  }),
  forOthers: forAccounting,
});

/** The subscription was created, or its status or plan changed. */
export const subscriptionUpdated = defineEvent({
  type: 'subscription.updated.v1',
  data: z.strictObject({
    org_id: OrgId,
    subscription_id: SubscriptionId,
    /** `null` when the subscription was created. */
    from: SubscriptionStatus.nullable(),
    status: SubscriptionStatus,
    plan_id: BillingPlanId,
    plan_version: z.int().min(1),
  }),
  forOthers: 'systems of the operator that provision by plan',
});

/**
 * The amount of the period in progress reached a threshold of the billing budget. Sent once per threshold and period.
 */
export const budgetReached = defineEvent({
  type: 'billing-budget.reached.v1',
  data: z.strictObject({
    org_id: OrgId,
    period_start: Instant,
    threshold_percent: z.union([z.literal(75), z.literal(90), z.literal(100)]),
    currency: Currency,
    budget_minor: MinorUnits,
    amount_minor: MinorUnits,
  }),
  forOthers: forAccounting,
});

/**
 * The entitlements of an organisation, sent after each change and every six hours. A service keeps the last terms that
 * it received, also after `valid_until`: an event follows within seconds of that end.
 */
export const entitlementChanged = defineEvent({
  type: 'entitlement.changed.v1',
  data: z.strictObject({
    org_id: OrgId,
    /** `schedule`: an end passed, the plan of the installation changed, or the event is repeated. */
    cause: z.enum(['licence', 'trial', 'subscription', 'settings', 'schedule']),
    plan_id: BillingPlanId,
    source: EntitlementSource,
    limits: EntitlementLimits,
    capabilities: PlanCapabilities,
    /** The end of these terms. `null` when they have no end. */
    valid_until: Instant.nullable(),
  }),
});

/** The identity settings of an organisation changed. Domains that are not verified are left out. */
export const identityUpdated = defineEvent({
  type: 'identity.updated.v1',
  data: z.strictObject({
    ...IdentitySettings.pick({
      org_id: true,
      version: true,
      sso_required: true,
      oidc_connection_id: true,
      role_mappings: true,
      break_glass_user_id: true,
    }).shape,
    verified_domains: z.array(z.string()),
  }),
});

/**
 * The state of a person whom the identity provider of an organisation manages. Each event contains the whole state, so
 * the one with the highest `sequence` is enough.
 */
const ProvisionedPersonState = z.strictObject({
  org_id: OrgId,
  scim_user_id: ScimUserId,
  sequence: z.int().min(1),
  /** A number that rises each time the access of the person ends. */
  access_epoch: z.int().min(0),
  /** The email address, in a verified domain of the organisation. */
  address: EmailAddress,
  display_name: z.string().min(1).max(256),
  is_active: z.boolean(),
  /** The role that the groups of the person have. `null` when they have none. */
  role: PersonRole.nullable(),
  /** All workspaces of the organisation. */
  workspace_ids: z.array(WorkspaceId).max(workspacesPerOrg),
  /** The administrator of the organisation, whose role mappings give the role. */
  granted_by: UserId,
});

export const personProvisioned = defineEvent({ type: 'person.provisioned.v1', data: ProvisionedPersonState });

/**
 * The state of a person whose access has just ended. It is also sent as `person.provisioned.v1`. This event has its own
 * queue, so that other changes of people do not delay it.
 */
export const personAccessEnded = defineEvent({ type: 'person.access-ended.v1', data: ProvisionedPersonState });

/** An installation administrator suspended or resumed the organisation, or changed its override. */
export const orgSettingsUpdated = defineEvent({
  type: 'org-settings.updated.v1',
  data: z.strictObject({
    org_id: OrgId,
    is_suspended: z.boolean(),
    /** `null` when the organisation has no override. */
    override_expires_at: Instant.nullable(),
  }),
  forOthers: 'systems of the operator that provision by plan',
});
