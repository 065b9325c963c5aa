import { AppError } from '@countersign/contracts';
import { getReceipt } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { findReceipt } from '../store/receipt-store.ts';

export const getReceiptRoute = ({ reader }: Context) =>
  handleTenant(getReceipt)(async ({ params, caller }) => {
    const receipt = await findReceipt(reader, caller.tenant, params.receipt_id);
    if (receipt === null) throw new AppError('NOT_FOUND', 'There is no such receipt', { param: 'receipt_id' });
    return receipt;
  });
