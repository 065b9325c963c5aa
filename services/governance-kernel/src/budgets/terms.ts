import { AppError } from '@countersign/contracts';
import type { BudgetRow, BudgetWindow } from './budget-row.ts';

/** What a budget limits, as its owner sets it. Null: no such ceiling. */
export type BudgetTerms = {
  subject: string;
  window: BudgetWindow;
  tool_call_limit: number | null;
  spend_limit_minor: number | null;
  currency: string | null;
  egress_limit_bytes: number | null;
  write_limit: number | null;
  approval_required_above_minor: number | null;
};

/** Throws INVALID_REQUEST for an amount of money without a currency. */
export function assertTerms({ currency, spend_limit_minor, approval_required_above_minor }: BudgetTerms): void {
  const holdsMoney = spend_limit_minor !== null || approval_required_above_minor !== null;
  if (holdsMoney && currency === null)
    throw new AppError('INVALID_REQUEST', 'A limit in money needs its currency', { param: 'currency' });
}

/** Throws ILLEGAL_TRANSITION when what was counted in one currency would go on in another. */
export function assertSameMoney(counted: bigint, now: BudgetRow, wanted: Pick<BudgetTerms, 'currency'>): void {
  if (counted === 0n || now.currency === null || now.currency === wanted.currency) return;
  throw new AppError('ILLEGAL_TRANSITION', 'Money is counted in another currency', {
    param: 'currency',
    details: { currency: now.currency, allowed: [] },
  });
}
