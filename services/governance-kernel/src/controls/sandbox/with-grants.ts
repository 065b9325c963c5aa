import type { CryptoProvider } from '@countersign/crypto';
import type { McpServerRow } from '../../registry/mcp-servers.ts';
import { grantInForce, type GrantInForce } from './grant-in-force.ts';
import type { SandboxGrantRow } from './sandbox-grants.ts';

type Deps = { provider: CryptoProvider; clock: () => Date };

/** Servers with their current grants. A server over HTTP has none. */
export function withGrants<Loaded extends { row: McpServerRow }>(
  { provider, clock }: Deps,
  servers: readonly Loaded[],
  rows: readonly SandboxGrantRow[],
): (Loaded & { sandbox: GrantInForce | null })[] {
  const nowMs = clock().getTime();
  return servers.map((server) => ({
    ...server,
    sandbox:
      server.row.transport === 'stdio' ? grantInForce(provider, { rows, server: server.row, tool: null, nowMs }) : null,
  }));
}
