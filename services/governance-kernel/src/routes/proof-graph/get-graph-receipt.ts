import { AppError } from '@countersign/contracts';
import { getGraphReceipt } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { graphReceipt } from '../../evidence/receipts/graph-receipt.ts';
import { findByHash } from '../../store/graph-store.ts';

export const getGraphReceiptRoute = ({ reader }: Context) =>
  handleTenant(getGraphReceipt)(async ({ params: { receipt_hash }, caller: { tenant } }) => {
    const found = await findByHash(reader, tenant, receipt_hash);
    if (found === null)
      throw new AppError('NOT_FOUND', 'The tenant has no receipt with this hash', { param: 'receipt_hash' });
    return { ...graphReceipt(found.receipt), next_hash: found.next };
  });
