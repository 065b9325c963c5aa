import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import { McpServerConfig } from '../mcp/server-config.ts';
import type { McpServerRow } from '../../registry/mcp-servers.ts';

/**
 * The configuration of a tenant's server. `null` unless it was encrypted for this server with the secret of this
 * kernel.
 */
export function openConfig(cipher: ArgsCipher, { tenant, key, configHash }: McpServerRow, sealed: string) {
  if (tenant === null || configHash === null) return null;
  return McpServerConfig.safeParse(cipher.decrypt({ tenant, id: key, argsHash: configHash }, sealed)).data ?? null;
}
