import { getReceipt } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { foundReceipt } from '../../evidence/proof/found-receipt.ts';
import { findReceipt } from '../../store/receipt-store.ts';

export const getReceiptRoute = ({ reader }: Context) =>
  handleTenant(getReceipt)(async ({ params, caller }) =>
    foundReceipt(await findReceipt(reader, caller.tenant, params.receipt_id)),
  );
