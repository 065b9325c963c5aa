import { isIP } from 'node:net';
import type { TenantId } from '@countersign/contracts';
import { isPublicAddress } from '@countersign/delivery';
import { versionOfServers } from '../registry/known-servers.ts';
import { serverIdOf, type McpServerRow } from '../registry/mcp-servers.ts';
import type { GrantInForce } from '../sandbox/grant-in-force.ts';
import type { McpServerConfig } from './server-config.ts';
import type { LocatedServer } from './server-directory.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** A server as the registry has it. `config`: of a tenant's server; `null` when it does not decrypt. */
export type StoredServer = {
  row: McpServerRow;
  config: McpServerConfig | null;
  /** The grant in force of a server over stdio. `null` when it has none. */
  sandbox: GrantInForce | null;
};

type Located = LocatedServer & { server: UpstreamServer | null; configHash: string | null; grantHash: string | null };
type KnownTenant = { version: string; byId: ReadonlyMap<string, Located> };

type TenantServersParts = {
  load(tenant: TenantId): Promise<StoredServer[]>;
  connectTo(located: { key: string; config: McpServerConfig; sandbox: GrantInForce | null }): UpstreamServer;
  reachesPrivate: boolean;
  clock: () => Date;
};

/** Why the kernel does not connect to a server that a tenant added. `null`: it may. A command is started under a grant alone. */
export function refusalOf(
  { config, sandbox }: { config: McpServerConfig; sandbox: GrantInForce | null },
  { reachesPrivate }: { reachesPrivate: boolean },
): string | null {
  if (config.transport === 'stdio') {
    if (sandbox === null) return 'The server has no sandbox grant';
    return sandbox.hasExpired ? 'The sandbox grant of the server has expired. Grant it again.' : null;
  }
  if (reachesPrivate) return null;
  const tokenUrl = config.oauth?.token_url;
  if (tokenUrl !== undefined && !tokenUrl.startsWith('https:')) return 'The token_url must begin with https';
  if ([config.url, tokenUrl ?? config.url].every(mayBePublic)) return null;
  return 'The address is not public. The configuration of the kernel may allow private addresses.';
}

/** A name is looked up, and its addresses checked, for each connection. */
function mayBePublic(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || isPublicAddress(host);
}

/** The servers that tenants added, each connected when its tools are first needed. */
export class TenantServers {
  readonly #parts: TenantServersParts;
  readonly #tenants = new Map<TenantId, KnownTenant>();
  readonly #reloading = new Map<TenantId, Promise<void>>();
  readonly #expiries = new Map<TenantId, NodeJS.Timeout>();

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
    this.#reloadAtExpiry(tenant, stored);
    const earlier = this.#tenants.get(tenant)?.byId;
    const own = stored.filter(({ row }) => row.tenant === tenant).map((server) => this.#located(server, earlier));
    const byId = new Map(own.map((located) => [located.serverId, located]));
    this.#tenants.set(tenant, { version: versionOfServers(stored.map(({ row }) => row)), byId });
    for (const { serverId, server } of earlier?.values() ?? [])
      if (server !== null && byId.get(serverId)?.server !== server) void server.close();
  }

  /** A process ends with its grant. Its calls are denied from then on in any case. */
  #reloadAtExpiry(tenant: TenantId, stored: readonly StoredServer[]): void {
    clearTimeout(this.#expiries.get(tenant));
    const nowMs = this.#parts.clock().getTime();
    const ends = stored.flatMap(({ sandbox }) => sandbox?.expiresAtMs ?? []).filter((endMs) => endMs > nowMs);
    if (ends.length === 0) return;
    const reload = () => void this.reload(tenant).catch(() => undefined); // the next call reloads
    // The longest grant outlasts the longest timer, so that it is looked at in between.
    this.#expiries.set(tenant, setTimeout(reload, Math.min(Math.min(...ends) - nowMs, 86_400_000)).unref());
  }

  /** No expiry is looked at from now on. */
  beginClose(): void {
    for (const timer of this.#expiries.values()) clearTimeout(timer);
  }

  /** The kernel keeps connections to approved servers alone. */
  #located({ row, config, sandbox }: StoredServer, earlier: KnownTenant['byId'] | undefined): Located {
    const { key, configHash } = row;
    const grantHash = sandbox?.hash ?? null;
    const named = { key, serverId: serverIdOf(key), config, configHash, grantHash };
    if (config === null)
      return {
        ...named,
        server: null,
        notConnected: 'Its configuration cannot be read with the secrets of this kernel',
      };
    const refusal = refusalOf({ config, sandbox }, this.#parts);
    if (refusal !== null) return { ...named, server: null, notConnected: refusal };
    if (row.state !== 'approved') return { ...named, server: null, notConnected: 'The server is not approved' };
    const known = earlier?.get(named.serverId);
    const server = known?.configHash === configHash && known.grantHash === grantHash ? known.server : null;
    return { ...named, server: server ?? this.#parts.connectTo({ key, config, sandbox }), notConnected: null };
  }
}
