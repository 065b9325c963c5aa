import { AppError } from '@countersign/contracts';
import { listGraphReceipts } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { graphReceipt } from '../../evidence/receipts/graph-receipt.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import { listReceipts } from '../../store/receipt-store.ts';

export const listGraphReceiptsRoute = ({ reader, provider }: Context) =>
  handleTenant(listGraphReceipts)(async ({ params: { session_id }, query: { limit, cursor }, caller: { tenant } }) => {
    const { data, next_cursor } = await pageOf(
      provider,
      { list: `graph-receipts ${session_id}`, tenant },
      { limit, cursor },
      {
        load: (page) => listReceipts(reader, tenant, { session_id }, page),
        placeOf: ({ log_index }) => log_index,
      },
    );
    if (data.length === 0)
      throw new AppError('NOT_FOUND', 'The tenant has no session with this ID', { param: 'session_id' });
    return { data: data.map(graphReceipt), next_cursor };
  });
