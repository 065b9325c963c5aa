import { AmountMinor, Currency, type BudgetId, type TenantId } from '@countersign/contracts';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import type { BudgetRow, BudgetWindow } from './budget-row.ts';

/** The ceiling on the cost of models that the kernel calls for all tenants together. */
export type ModelSpendLimit = Readonly<{ limitMinor: number; currency: string; window: BudgetWindow }>;

/** `500000 EUR`: minor units, and their currency. Throws for anything else. */
export function readModelSpend(text: string, window: BudgetWindow): ModelSpendLimit {
  const [, amount = '', code = ''] = /^(\d+) ([A-Z]+)$/.exec(text) ?? [];
  const limitMinor = AmountMinor.safeParse(amount === '' ? null : Number(amount));
  const currency = Currency.safeParse(code);
  if (!limitMinor.success || !currency.success)
    throw new Error('it must be minor units and their currency, such as 500000 EUR');
  return { limitMinor: limitMinor.data, currency: currency.data, window };
}

/** No tenant has this name, so no tenant can list the budget, set it, or read its remainder. */
const everybody = '*' as TenantId; // deliberately not a valid tenant ID

/** The set of budgets that limit every call of a model by the kernel. */
export const installationBudgets = { tenant: everybody, subject: 'tenant' } as const;

export function isInstallationCeiling({ id }: Pick<BudgetRow, 'id'>): boolean {
  return id === installationCeiling;
}

/** The key of a budget that a call of this tenant reserves. */
export function budgetKey(tenant: TenantId, id: BudgetId): { tenant: TenantId; id: BudgetId } {
  return { tenant: id === installationCeiling ? everybody : tenant, id };
}
