import { listMcpServers } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { listServers } from '../../doors/server-registry/registry-desk.ts';
import { shownTo } from '../../doors/server-registry/server-view.ts';
import { pageOf, pageStart } from '../../store/page.ts';

export const listMcpServersRoute = ({ registryDesk }: Context) =>
  handleTenant(listMcpServers)(async ({ query, caller }) => {
    const behind = pageStart(query, /^[a-z0-9_-]{1,63}$/) ?? '';
    const servers = await listServers(registryDesk, caller.tenant);
    const rows = servers.filter(({ server_id: id }) => id > behind);
    return pageOf(rows, query.limit, { item: (row) => shownTo(caller, row), key: ({ server_id: id }) => id });
  });
