import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, BudgetId, ControlVersion, Currency, Instant, TenantId } from '../scalars.ts';
import { CallInFlight, callsInFlightMax } from './fences.ts';

const TenantQuery = { tenant_id: z.string().optional() };

export const BudgetSubject = z
  .string()
  .regex(/^(tenant|(principal|agent|tool):.{1,256})$/, 'must be tenant, principal:<id>, agent:<id> or tool:<name>');
export const BudgetWindow = z.enum(['1h', '24h', 'month', 'total']);
const Ceiling = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable();

const BudgetTerms = {
  subject: BudgetSubject,
  window: BudgetWindow,
  tool_call_limit: Ceiling.default(null),
  spend_limit_minor: AmountMinor.nullable().default(null),
  currency: Currency.nullable().default(null),
  egress_limit_bytes: Ceiling.default(null),
  write_limit: Ceiling.default(null),
  approval_required_above_minor: AmountMinor.nullable().default(null),
};

export const BudgetAmounts = z.strictObject({
  tool_calls: z.int(),
  spend_minor: z.int(),
  egress_bytes: z.int(),
  writes: z.int(),
});

/** The remainder of each limit. `null` when the limit is not set. */
const BudgetLeft = z.strictObject({
  tool_calls: z.int().nullable(),
  spend_minor: z.int().nullable(),
  egress_bytes: z.int().nullable(),
  writes: z.int().nullable(),
});

export const Budget = z.strictObject({
  budget_id: BudgetId,
  ...BudgetTerms,
  used: BudgetAmounts,
  /** Reserved by calls in flight. */
  reserved: BudgetAmounts,
  /** Money is rounded down. */
  remaining: BudgetLeft,
  resets_at: Instant.nullable(),
  /** Rises with each change. The ETag is this number in quotes. */
  version: z.int().min(1),
  updated_at: Instant,
});
export type Budget = z.infer<typeof Budget>;

/**
 * The most budgets of one subject. The number is small because each call is compared with all budgets of its subjects.
 * Budgets of the tenant and of services are counted separately.
 */
export const budgetsOfSubjectMax = 16;

export const listBudgets = defineRoute({
  operation: 'list-budgets',
  summary: 'List the budgets of the tenant with their use.',
  method: 'GET',
  path: '/api/v1/budgets',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'budget.read' },
  assertedBy: AssertionRole.options,
  keyScopes: ['read', 'basic:read', 'usage'],
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(Budget),
});

/** Budgets that a plan or a workspace sets. Only `put-ceiling` changes them. */
export const isCeiling = (id: string) => /^(plan|ceiling)\./.test(id);

/**
 * The ceiling on the cost of models for all tenants together. It is set in the configuration of the kernel, and by no
 * route.
 */
export const installationCeiling = 'ceiling.installation';

const CeilingId = BudgetId.refine(isCeiling, 'must begin with plan. or ceiling.').refine(
  (id) => id !== installationCeiling,
  `must not be ${installationCeiling}, which GOV_MODEL_SPEND_LIMIT sets`,
);
const OwnBudgetId = BudgetId.refine(
  (id) => !isCeiling(id),
  'must not begin with plan. or ceiling.: these are reserved',
);

export const putBudget = defineRoute({
  operation: 'put-budget',
  summary:
    'Create or replace a budget. Replacement requires If-Match and keeps the use. Ids that begin with `plan.` and ' +
    '`ceiling.` are reserved.',
  method: 'PUT',
  path: '/api/v1/budgets/{budget_id}',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ budget_id: OwnBudgetId }),
  query: z.strictObject(TenantQuery),
  body: z.strictObject(BudgetTerms),
  reply: Budget,
  alsoStatus: [201],
  errors: ['ILLEGAL_TRANSITION', 'PRECONDITION_REQUIRED', 'PRECONDITION_FAILED'],
});

export const putCeiling = defineRoute({
  operation: 'put-ceiling',
  summary:
    'Set a budget that a plan or a workspace owns (`plan.*`, `ceiling.*`), sealed. The version only rises. A new ' +
    'currency starts from zero, after all reserved money is settled.',
  method: 'PUT',
  path: '/internal/budgets/{tenant}/{budget_id}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId, budget_id: CeilingId }),
  body: z.strictObject({ version: ControlVersion, ...BudgetTerms }),
  reply: Budget,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

/** Excludes the installation's ceiling, which no route may read or add usage to. */
const KnownBudgetId = BudgetId.refine((id) => id !== installationCeiling, `must not be ${installationCeiling}`);
const BudgetParams = z.strictObject({ tenant: TenantId, budget_id: KnownBudgetId });

export const getBudget = defineRoute({
  operation: 'get-budget',
  summary: 'Get a budget and its unsettled calls, oldest first.',
  method: 'GET',
  path: '/internal/budgets/{tenant}/{budget_id}',
  auth: 'service_internal',
  params: BudgetParams,
  reply: Budget.extend({
    in_flight: z.array(CallInFlight.extend({ holds: BudgetAmounts })).max(callsInFlightMax),
    /** `true` when there are more calls than listed, or more open calls than were read. */
    more_in_flight: z.boolean(),
  }),
  errors: ['NOT_FOUND'],
});

const Counted = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);

export const BudgetEventId = z
  .string()
  .regex(/^[\u0021-\u007e]{1,200}$/, 'must be 1 to 200 printable characters of ASCII');

export const recordBudgetUsage = defineRoute({
  operation: 'record-budget-usage',
  summary:
    'Record usage from elsewhere, sealed, once per `event_id`. It may exceed the ceiling, and the next decision ' +
    'includes it. Usage of past windows is stored but not counted. Events older than 35 days are rejected.',
  method: 'POST',
  path: '/internal/budgets/{tenant}/{budget_id}/usage',
  auth: 'service_internal',
  idempotency: { exempt: 'named' },
  params: BudgetParams,
  body: z.strictObject({
    event_id: BudgetEventId,
    occurred_at: Instant,
    amount_minor: AmountMinor.default(0),
    /** The currency of the budget. Required with an amount. */
    currency: Currency.nullable().default(null),
    tool_calls: Counted,
    egress_bytes: Counted,
    writes: Counted,
  }),
  reply: z.strictObject({
    event_id: z.string(),
    /** `false` when the event belongs to a past window. */
    counted: z.boolean(),
    budget: Budget,
  }),
  errors: ['NOT_FOUND', 'INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED', 'RECEIPT_STORE_UNAVAILABLE'],
});
