import { z } from 'zod';
import { Budget, BudgetEventId, listBudgets } from '../governance-kernel/budgets.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, BudgetId, Currency, Instant } from '../scalars.ts';

export const recordSpend = defineRoute({
  operation: 'record-spend',
  summary:
    'Record spend from elsewhere on a budget of the workspace, once per `event_id`. It may exceed the limit, and ' +
    'the next decision includes it. Events older than 35 days are rejected.',
  method: 'POST',
  path: '/api/basic/budget/record',
  auth: 'commercial',
  leastRole: 'partner',
  right: 'budget.record',
  keyScopes: ['usage'],
  forward: {},
  idempotency: { exempt: 'named' },
  body: z.strictObject({
    event_id: BudgetEventId,
    budget_id: BudgetId,
    amount_minor: AmountMinor.min(1),
    /** The currency of the budget. */
    currency: Currency,
    occurred_at: Instant,
  }),
  reply: z.strictObject({
    event_id: z.string(),
    /** False when the event belongs to a window of the budget that has ended. */
    counted: z.boolean(),
    budget: Budget,
  }),
  errors: ['NOT_FOUND', 'INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED', 'GOVERNANCE_UNAVAILABLE'],
});

export const getSpendSummary = defineRoute({
  operation: 'get-spend-summary',
  summary: 'List the budgets of the workspace with their use, as counted by the kernel.',
  method: 'GET',
  path: '/api/basic/budget/summary',
  auth: 'commercial',
  leastRole: 'member',
  right: 'budget.read',
  keyScopes: ['usage', 'basic:read'],
  alsoCalls: [listBudgets.operation],
  forward: {},
  query: z.strictObject(PageQuery),
  reply: page(Budget),
  errors: ['NOT_FOUND', 'GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});
