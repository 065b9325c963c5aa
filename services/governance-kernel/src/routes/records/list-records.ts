import { listRecords } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import * as store from '../../store/record-store.ts';

export const listRecordsRoute = ({ reader, provider }: Context) =>
  handleTenant(listRecords)(async ({ query, caller: { tenant } }) => {
    const { tenant_id: _tenant, limit, cursor, receipt_id, ...filter } = query;
    const { data, next_cursor } = await pageOf(
      provider,
      { list: 'records', tenant },
      { limit, cursor },
      {
        load: (page) => store.listRecords(reader, tenant, { ...filter, receiptId: receipt_id }, page),
        placeOf: ({ logIndex }) => logIndex,
      },
    );
    return { data: data.map(({ record }) => record), next_cursor };
  });
