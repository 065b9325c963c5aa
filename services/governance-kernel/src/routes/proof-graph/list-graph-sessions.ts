import { listGraphSessions } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import { listSessions } from '../../store/graph-store.ts';

export const listGraphSessionsRoute = ({ reader, provider }: Context) =>
  handleTenant(listGraphSessions)(({ query: { limit, cursor }, caller: { tenant } }) =>
    pageOf(
      provider,
      { list: 'graph-sessions', tenant },
      { limit, cursor },
      { load: (page) => listSessions(reader, tenant, page), placeOf: ({ first_log_index }) => first_log_index },
    ),
  );
