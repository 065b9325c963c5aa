import { AppError } from '@countersign/contracts';
import type { StoredInvoice } from '../store/invoices.ts';

export type CashMovement = {
  amountMinor: bigint;
  currency: string;
  /** Identifies the cash movement at the payment provider. Each reference is posted only once. */
  reference: string;
};

/**
 * Throws INVALID_REQUEST when the currency differs from the invoice, or when the amount is not between 1 and the limit.
 */
export function assertCashAmount(
  { currency }: StoredInvoice,
  cash: CashMovement,
  limit: { amountMinor: bigint; what: string },
): void {
  if (cash.currency !== currency)
    throw new AppError('INVALID_REQUEST', `currency is ${cash.currency}, but the invoice is in ${currency}`, {
      param: 'currency',
    });
  if (cash.amountMinor < 1n || cash.amountMinor > limit.amountMinor)
    throw new AppError(
      'INVALID_REQUEST',
      `amount_minor is ${cash.amountMinor}, but must be between 1 and the ${limit.what}, ${limit.amountMinor}`,
      { param: 'amount_minor' },
    );
}
