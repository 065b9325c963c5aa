import type { TenantId } from '@countersign/contracts';
import type { HiddenTool } from '@countersign/contracts/governance-kernel';
import type { Tool } from '@modelcontextprotocol/client';
import type { McpServerConfig } from './server-config.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** A server in the view of one tenant. */
export type LocatedServer = {
  /** The key of the server in the registry. */
  key: string;
  serverId: string;
  /** `null` when this kernel cannot read the configuration. */
  config: McpServerConfig | null;
  /** The connection. `null` when the kernel does not connect to the server. */
  server: Pick<
    UpstreamServer,
    'tools' | 'freshTools' | 'hidden' | 'call' | 'offered' | 'health' | 'reportsChanges' | 'watch'
  > | null;
  /** The reason why the server is not connected. */
  notConnected: string | null;
};

/**
 * The servers of each tenant, including those of the installation. A tenant's server hides a server of the installation
 * with the same name, which was declared later.
 */
export type ServerDirectory = {
  find(tenant: TenantId, serverId: string): LocatedServer | null;
  list(tenant: TenantId): LocatedServer[];
  /** The servers of the installation. */
  declared(): LocatedServer[];
  /** The connections of this kernel, for all owners. */
  connected(): UpstreamServer[];
  /** Whether the servers of the tenant were read since this kernel started. */
  isRead(tenant: TenantId): boolean;
  /** The version of the tenant's rows that were read. */
  versionOf(tenant: TenantId): string;
  reload(tenant: TenantId): Promise<void>;
};

/** The definitions that a server listed on a separate connection. */
export type Look = { tools: readonly Tool[]; hidden: readonly HiddenTool[] };
