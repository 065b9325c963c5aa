import { listReceipts } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import * as store from '../../store/receipt-store.ts';

export const listReceiptsRoute = ({ reader, provider }: Context) =>
  handleTenant(listReceipts)(({ query, caller: { tenant } }) => {
    const { tenant_id: _tenant, limit, cursor, agent, ...filter } = query;
    return pageOf(
      provider,
      { list: 'receipts', tenant },
      { limit, cursor },
      {
        load: (page) => store.listReceipts(reader, tenant, { ...filter, principal_id: agent }, page),
        placeOf: ({ log_index }) => log_index,
      },
    );
  });
