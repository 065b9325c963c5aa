import { isIP } from 'node:net';
import type { TenantId } from '@countersign/contracts';
import { isPublicAddress } from '@countersign/delivery';
import { versionOfServers } from '../../registry/known-servers.ts';
import { serverIdOf, stateAt, type McpServerRow } from '../../registry/mcp-servers.ts';
import type { GrantInForce } from '../../controls/sandbox/grant-in-force.ts';
import type { McpServerConfig } from './server-config.ts';
import type { LocatedServer } from './server-directory.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** A server in the registry. `config` is `null` for a server of the installation, and when it cannot be decrypted. */
export type StoredServer = {
  row: McpServerRow;
  config: McpServerConfig | null;
  /** The current grant of a server over stdio. `null` when it has none. */
  sandbox: GrantInForce | null;
};

type Located = LocatedServer & { server: UpstreamServer | null; configHash: string | null; grantHash: string | null };
type KnownTenant = { version: string; byId: ReadonlyMap<string, Located> };

type TenantServersDeps = {
  load(tenant: TenantId): Promise<StoredServer[]>;
  connectTo(located: { key: string; config: McpServerConfig; sandbox: GrantInForce | null }): UpstreamServer;
  reachesPrivate: boolean;
  clock: () => Date;
};

/**
 * The reason why the configuration or grant of a tenant's server prevents a connection to the server. `null` when there
 * is none. A command is started only under a grant.
 */
export function refusalOf(
  { config, sandbox }: { config: McpServerConfig; sandbox: GrantInForce | null },
  { reachesPrivate }: { reachesPrivate: boolean },
): string | null {
  if (config.transport === 'stdio') {
    if (sandbox === null) return 'The server has no sandbox grant';
    return sandbox.hasExpired
      ? 'The sandbox grant of the server has expired, or was made for a different configuration. Grant it again.'
      : null;
  }
  if (reachesPrivate) return null;
  const tokenUrl = config.oauth?.token_url;
  if (tokenUrl !== undefined && !tokenUrl.startsWith('https:')) return 'The token_url must begin with https';
  if ([config.url, tokenUrl ?? config.url].every(mayBePublic)) return null;
  return 'The address is not public. To allow private addresses, the operator configures the kernel to reach them.';
}

/** The reason why a tenant's server is not approved now. `null` when the approval is in force. */
export function unapprovedText(row: McpServerRow, nowMs: number): string | null {
  const state = stateAt(row, nowMs);
  if (state === 'expired') return 'The approval of the server has ended. Request a new one.';
  return state === 'approved' ? null : 'The server is not approved';
}

/**
 * Whether the URL may have a public address. A host name is accepted here, since its addresses are checked for each
 * connection.
 */
function mayBePublic(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || isPublicAddress(host);
}

/** The servers that tenants added. Each is connected when its tools are first needed. */
export class TenantServers {
  readonly #deps: TenantServersDeps;
  readonly #tenants = new Map<TenantId, KnownTenant>();
  readonly #reloading = new Map<TenantId, Promise<void>>();
  readonly #expiries = new Map<TenantId, NodeJS.Timeout>();

  constructor(deps: TenantServersDeps) {
    this.#deps = deps;
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

  /**
   * Loads of one tenant run one after the other, so that the result of an older load never replaces that of a newer
   * load.
   */
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
    const stored = await this.#deps.load(tenant);
    this.#reloadAtExpiry(tenant, stored);
    const earlier = this.#tenants.get(tenant)?.byId;
    const own = stored.filter(({ row }) => row.tenant === tenant).map((server) => this.#located(server, earlier));
    const byId = new Map(own.map((located) => [located.serverId, located]));
    this.#tenants.set(tenant, { version: versionOfServers(stored.map(({ row }) => row)), byId });
    for (const { serverId, server } of earlier?.values() ?? [])
      if (server !== null && byId.get(serverId)?.server !== server) void server.close();
  }

  /**
   * Loads the servers again when the next grant or approval ends, in order to end the process or connection. Calls are
   * denied from that time on in any case.
   */
  #reloadAtExpiry(tenant: TenantId, stored: readonly StoredServer[]): void {
    clearTimeout(this.#expiries.get(tenant));
    const nowMs = this.#deps.clock().getTime();
    const ends = stored
      .flatMap(({ row, sandbox }) => [sandbox?.expiresAtMs ?? [], row.expiresAtMs ?? []].flat())
      .filter((endMs) => endMs > nowMs);
    if (ends.length === 0) return;
    const reload = () => void this.reload(tenant).catch(() => undefined); // the next call reloads
    // A timer cannot run for longer than 24 days, so the servers are loaded again after one day at the latest.
    this.#expiries.set(tenant, setTimeout(reload, Math.min(Math.min(...ends) - nowMs, 86_400_000)).unref());
  }

  /** Stops watching for expiries. */
  beginClose(): void {
    for (const timer of this.#expiries.values()) clearTimeout(timer);
  }

  /** The kernel connects only to approved servers. */
  #located({ row, config, sandbox }: StoredServer, earlier: KnownTenant['byId'] | undefined): Located {
    const { key, configHash } = row;
    const grantHash = sandbox?.hash ?? null;
    const named = { key, serverId: serverIdOf(key), config, configHash, grantHash };
    if (config === null)
      return {
        ...named,
        server: null,
        notConnected: 'The configuration of the server cannot be decrypted with the secrets of this kernel',
      };
    const refusal = refusalOf({ config, sandbox }, this.#deps);
    if (refusal !== null) return { ...named, server: null, notConnected: refusal };
    const unapproved = unapprovedText(row, this.#deps.clock().getTime());
    if (unapproved !== null) return { ...named, server: null, notConnected: unapproved };
    const existing = earlier?.get(named.serverId);
    const server = existing?.configHash === configHash && existing.grantHash === grantHash ? existing.server : null;
    return { ...named, server: server ?? this.#deps.connectTo({ key, config, sandbox }), notConnected: null };
  }
}
