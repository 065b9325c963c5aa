import type { Hasher } from './call/normalise.ts';
import type { Core } from './context.ts';
import type { SettingDeps } from './controls/policy/setting-statement.ts';
import { declareServers } from './doors/server-registry/declare-servers.ts';
import type { DeskDeps } from './doors/server-registry/registry-desk.ts';
import type { FirstListDeps } from './doors/server-registry/seal-first-list.ts';
import type { Reader } from './store/database.ts';
import { countOwnServers, deskStore, findEndedPins } from './store/mcp-server-store.ts';
import { findGrants } from './store/sandbox-grant-store.ts';

/** The dependencies of the operations on the registry of MCP servers. */
export function createRegistryDesk({ config, reader, upstreams, cycle, ...core }: Core): DeskDeps {
  return {
    ...{ ...core, hasher: cycle.hasher, reachesPrivate: config.mcpReachesPrivate, ...upstreams.forDesk },
    ...deskStore(reader),
    findGrants: (tenant) => findGrants(reader, tenant),
  };
}

type SealingDeps = SettingDeps & { reader: Reader; cycle: { hasher: Hasher } };

/** The dependencies for pinning the first list of a declared server. */
export function firstListDeps({ reader, cycle, ...rest }: SealingDeps): FirstListDeps {
  return { ...rest, hasher: cycle.hasher, findEndedPins: (key) => findEndedPins(reader, key) };
}

/** Declares the servers of the configuration, and warns about each name that servers of tenants already have. */
export async function declareInstalled({ config, reader, cycle, log, ...core }: Core): Promise<void> {
  await declareServers({ ...core, hasher: cycle.hasher }, config.mcpServers);
  const names = config.mcpServers.map(({ server_id: id }) => id);
  for (const { name, tenants } of await countOwnServers(reader, names))
    log.warn('mcp_server.name_in_use', { server_id: name, tenants });
}
