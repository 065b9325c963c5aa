import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, BudgetId, ControlVersion, Currency, Instant, TenantId } from '../scalars.ts';

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

export const Budget = z.strictObject({
  budget_id: BudgetId,
  ...BudgetTerms,
  used: BudgetAmounts,
  reserved: BudgetAmounts,
  resets_at: Instant.nullable(),
  /** Rises with each change; ETag is this number in quotes. */
  version: z.int().min(1),
  updated_at: Instant,
});
export type Budget = z.infer<typeof Budget>;

export const listBudgets = defineRoute({
  operation: 'list-budgets',
  summary: 'Budgets of the tenant with their use.',
  method: 'GET',
  path: '/api/v1/budgets',
  auth: 'tenant_scoped',
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(Budget),
});

/** Budgets that a plan or a workspace sets: no route changes them but `put-ceiling`. */
const isCeiling = (id: string) => /^(plan|ceiling)\./.test(id);

/** What models may cost all tenants together. The configuration of the kernel sets it, and no route does. */
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
    'Create or replace a budget. Replacing needs If-Match with its ETag; use counts on. Ids of `plan.` and `ceiling.` are reserved.',
  method: 'PUT',
  path: '/api/v1/budgets/{budget_id}',
  auth: 'tenant_scoped',
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
    'Set a budget that a plan or a workspace owns (`plan.*`, `ceiling.*`), sealed. Its version is that of its source and only rises; ' +
    'the same version again confirms it. Another currency begins to count anew, and waits while money is reserved.',
  method: 'PUT',
  path: '/internal/budgets/{tenant}/{ceiling_id}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId, ceiling_id: CeilingId }),
  body: z.strictObject({ version: ControlVersion, ...BudgetTerms }),
  reply: Budget,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});
