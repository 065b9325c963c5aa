import { listActions } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import * as store from '../../store/action-store.ts';

export const listActionsRoute = ({ reader, provider }: Context) =>
  handleTenant(listActions)(async ({ query, caller: { tenant } }) => {
    const { tenant_id: _tenant, limit, cursor, agent, ...filter } = query;
    const { data, next_cursor } = await pageOf(
      provider,
      { list: 'actions', tenant },
      { limit, cursor },
      {
        load: (page) => store.listActions(reader, tenant, { ...filter, principal_id: agent }, page),
        placeOf: ({ logIndex }) => logIndex,
      },
    );
    return { data: data.map(({ action }) => action), next_cursor };
  });
