import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, BudgetId, Currency, Instant } from '../scalars.ts';

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

export const putBudget = defineRoute({
  operation: 'put-budget',
  summary: 'Create or replace a budget. Replacing needs If-Match with its ETag; use counts on.',
  method: 'PUT',
  path: '/api/v1/budgets/{budget_id}',
  auth: 'tenant_scoped',
  params: z.strictObject({ budget_id: BudgetId }),
  query: z.strictObject(TenantQuery),
  body: z.strictObject(BudgetTerms),
  reply: Budget,
  alsoStatus: [201],
  errors: ['PRECONDITION_REQUIRED', 'PRECONDITION_FAILED'],
});
