import { isIP } from 'node:net';
import type { TenantId } from '@countersign/contracts';
import { isPublicAddress } from '@countersign/delivery';
import { versionOfServers } from '../registry/known-servers.ts';
import { serverIdOf, type McpServerRow } from '../registry/mcp-servers.ts';
import type { McpServerConfig } from './server-config.ts';
import type { LocatedServer } from './server-directory.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** A server as the registry has it. `config`: of a tenant's server; `null` when it does not decrypt. */
export type StoredServer = { row: McpServerRow; config: McpServerConfig | null };

type Located = LocatedServer & { server: UpstreamServer | null; configHash: string | null };
type KnownTenant = { version: string; byId: ReadonlyMap<string, Located> };

type TenantServersParts = {
  load(tenant: TenantId): Promise<StoredServer[]>;
  connectTo(located: { key: string; config: McpServerConfig }): UpstreamServer;
  reachesPrivate: boolean;
};

export const needsSandbox =
  'A command that was added at run time is started in a sandbox alone, and this kernel has none. Declare the server in the ' +
  'configuration of the kernel, or run it elsewhere and add its address.';

/** Why the kernel does not connect to a server that a tenant added. `null`: it may. */
export function refusalOf(config: McpServerConfig, { reachesPrivate }: { reachesPrivate: boolean }): string | null {
  if (config.transport === 'stdio') return needsSandbox;
  const host = new URL(config.url).hostname.replace(/^\[|\]$/g, '');
  if (reachesPrivate || isIP(host) === 0 || isPublicAddress(host)) return null;
  return 'The address is not public. The configuration of the kernel may allow private addresses.';
}

/** The servers that tenants added, each connected when its tools are first needed. */
export class TenantServers {
  readonly #parts: TenantServersParts;
  readonly #tenants = new Map<TenantId, KnownTenant>();
  readonly #reloading = new Map<TenantId, Promise<void>>();

  constructor(parts: TenantServersParts) {
    this.#parts = parts;
  }

  find(tenant: TenantId, serverId: string): LocatedServer | null {
    return this.#tenants.get(tenant)?.byId.get(serverId) ?? null;
  }

  list(tenant: TenantId): LocatedServer[] {
    return [...(this.#tenants.get(tenant)?.byId.values() ?? [])];
  }

  isRead(tenant: TenantId): boolean {
    return this.#tenants.has(tenant);
  }

  versionOf(tenant: TenantId): string {
    return this.#tenants.get(tenant)?.version ?? 'unread';
  }

  /** Two who ask at once share a look-up that begins after both asked. */
  async reload(tenant: TenantId): Promise<void> {
    const before = this.#reloading.get(tenant)?.catch(() => undefined) ?? Promise.resolve();
    const reloading = before.then(() => this.#load(tenant));
    this.#reloading.set(tenant, reloading);
    await reloading.finally(() => {
      if (this.#reloading.get(tenant) === reloading) this.#reloading.delete(tenant);
    });
  }

  connected(): UpstreamServer[] {
    return [...this.#tenants.values()].flatMap(({ byId }) => [...byId.values()].flatMap(({ server }) => server ?? []));
  }

  async #load(tenant: TenantId): Promise<void> {
    const stored = await this.#parts.load(tenant);
    const earlier = this.#tenants.get(tenant)?.byId;
    const own = stored.filter(({ row }) => row.tenant === tenant).map((server) => this.#located(server, earlier));
    const byId = new Map(own.map((located) => [located.serverId, located]));
    this.#tenants.set(tenant, { version: versionOfServers(stored.map(({ row }) => row)), byId });
    for (const { serverId, server } of earlier?.values() ?? [])
      if (server !== null && byId.get(serverId)?.server !== server) void server.close();
  }

  /** The kernel keeps connections to approved servers alone. */
  #located({ row, config }: StoredServer, earlier: KnownTenant['byId'] | undefined): Located {
    const { key, configHash } = row;
    const named = { key, serverId: serverIdOf(key), config, configHash };
    if (config === null)
      return {
        ...named,
        server: null,
        notConnected: 'Its configuration cannot be read with the secrets of this kernel',
      };
    const refusal = refusalOf(config, this.#parts);
    if (refusal !== null) return { ...named, server: null, notConnected: refusal };
    if (row.state !== 'approved') return { ...named, server: null, notConnected: 'The server is not approved' };
    const known = earlier?.get(named.serverId);
    const server = known?.configHash === configHash ? known.server : null;
    return { ...named, server: server ?? this.#parts.connectTo({ key, config }), notConnected: null };
  }
}
