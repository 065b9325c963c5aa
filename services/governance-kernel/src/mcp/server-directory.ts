import type { TenantId } from '@countersign/contracts';
import type { HiddenTool } from '@countersign/contracts/governance-kernel';
import type { Tool } from '@modelcontextprotocol/client';
import type { McpServerConfig } from './server-config.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** A server as one tenant has it. */
export type LocatedServer = {
  /** In the registry. */
  key: string;
  serverId: string;
  /** `null` when this kernel cannot read it. */
  config: McpServerConfig | null;
  /** `null` when the kernel does not connect to it. */
  server: Pick<UpstreamServer, 'tools' | 'freshTools' | 'hidden' | 'call' | 'offered' | 'health'> | null;
  /** Why it does not. */
  notConnected: string | null;
};

/** The servers of each tenant, with those of the installation. A name of the installation hides the same name of a tenant. */
export type ServerDirectory = {
  find(tenant: TenantId, serverId: string): LocatedServer | null;
  list(tenant: TenantId): LocatedServer[];
  /** Those of the installation. */
  declared(): LocatedServer[];
  /** The connections of this kernel, of every owner. */
  connected(): UpstreamServer[];
  /** Whether the servers of the tenant were read since this kernel started. */
  isRead(tenant: TenantId): boolean;
  /** The version of the rows that it was read from. */
  versionOf(tenant: TenantId): string;
  reload(tenant: TenantId): Promise<void>;
};

/** The definitions that a server showed to a connection of its own. */
export type Look = { tools: readonly Tool[]; hidden: readonly HiddenTool[] };
