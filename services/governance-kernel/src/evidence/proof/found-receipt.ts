import { AppError } from '@countersign/contracts';

/** The receipt of a tenant that a request names. Throws NOT_FOUND. */
export function foundReceipt<Receipt>(receipt: Receipt | null): Receipt {
  if (receipt !== null) return receipt;
  throw new AppError('NOT_FOUND', 'The tenant has no receipt with this ID', { param: 'receipt_id' });
}
