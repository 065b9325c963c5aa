import { getReceipt, listReceipts, listRecords } from '@countersign/contracts/governance-kernel';
import { handleTenant } from '../../handle.ts';
import type { Core } from '../../local/open-core.ts';
import { foundReceipt } from '../../evidence/proof/found-receipt.ts';
import { pageOf } from '../../evidence/receipts/page.ts';

type Reading = Pick<Core, 'reads' | 'provider'>;

export const listReceiptsRoute = ({ reads, provider }: Reading) =>
  handleTenant(listReceipts)(({ query, caller: { tenant } }) => {
    const { tenant_id: _tenant, limit, cursor, agent, ...filter } = query;
    return pageOf(
      provider,
      { list: 'receipts', tenant },
      { limit, cursor },
      {
        load: (page) => reads.listReceipts(tenant, { ...filter, principal_id: agent }, page),
        placeOf: ({ log_index }) => log_index,
      },
    );
  });

export const getReceiptRoute = ({ reads }: Reading) =>
  handleTenant(getReceipt)(async ({ params, caller }) =>
    foundReceipt(await reads.findReceipt(caller.tenant, params.receipt_id)),
  );

export const listRecordsRoute = ({ reads, provider }: Reading) =>
  handleTenant(listRecords)(async ({ query, caller: { tenant } }) => {
    const { tenant_id: _tenant, limit, cursor, ...filter } = query;
    const { data, next_cursor } = await pageOf(
      provider,
      { list: 'records', tenant },
      { limit, cursor },
      { load: (page) => reads.listRecords(tenant, filter, page), placeOf: ({ logIndex }) => logIndex },
    );
    return { data: data.map(({ item }) => item), next_cursor };
  });
