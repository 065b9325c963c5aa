import { listGalleryServers } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { galleryView } from '../../doors/server-registry/gallery-view.ts';
import { listServers } from '../../doors/server-registry/registry-desk.ts';
import { pageOf, pageStart } from '../../store/page.ts';

/** The approved servers of the tenant, for clients that install servers from a registry. */
export const listGalleryServersRoute = ({ registryDesk, config }: Context) =>
  handleTenant(listGalleryServers)(async ({ query, caller }) => {
    const { search = '', updated_since: since, version = 'latest' } = query;
    const behind = pageStart(query, /^[a-z0-9_-]{1,63}$/) ?? '';
    const approved = (await listServers(registryDesk, caller.tenant)).filter(({ state }) => state === 'approved');
    const rows = approved
      .filter(
        ({ server_id: id, updated_at: at }) =>
          id > behind && (since === undefined || Date.parse(at) >= Date.parse(since)),
      )
      .map((server) => ({ id: server.server_id, item: galleryView(server, config.publicUrl) }))
      .filter(({ item: { server } }) => server.name.includes(search.toLowerCase()))
      .filter(({ item: { server } }) => version === 'latest' || version === server.version);
    const { data, next_cursor: next } = pageOf(rows, query.limit, { item: ({ item }) => item, key: ({ id }) => id });
    return { servers: data, metadata: { count: data.length, ...(next === null ? {} : { nextCursor: next }) } };
  });
