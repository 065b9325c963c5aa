import { AppError } from '@countersign/contracts';
import type { BudgetWindow } from './budget-row.ts';

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
export function assertSameMoney(
  now: { currency: string | null; spentMinor: number; reservedMinor: number },
  wanted: Pick<BudgetTerms, 'currency'>,
): void {
  const counted = now.spentMinor > 0 || now.reservedMinor > 0;
  if (counted && now.currency !== null && now.currency !== wanted.currency)
    throw new AppError('ILLEGAL_TRANSITION', 'Spend was counted in another currency; make another budget', {
      param: 'currency',
      details: { currency: now.currency, allowed: [] },
    });
}
