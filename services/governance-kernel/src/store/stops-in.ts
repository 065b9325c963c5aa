import { hasEnded } from '../controls/access-keys/access-keys.ts';
import type { BoundaryDeps } from '../decision/boundary.ts';
import { findAccessKeyById } from './access-key-store.ts';
import type { Reader } from './database.ts';
import { findFencesAround } from './fence-store.ts';
import { holdsOneOf } from '../controls/policy/block-tools.ts';
import { toolBlocks } from '../controls/policy/tool-blocks.ts';
import { serverKey } from '../registry/mcp-servers.ts';
import { parseToolAddress } from '../registry/tool-definition.ts';
import { findLiveKey, isRevoked } from './identity-store.ts';
import { asStored } from './stored-row.ts';

/** Reads the current stops of calls, since a stop may be set between a decision and its dispatch. */
export function stopsIn(
  reader: Reader,
  clock: () => Date,
): Pick<BoundaryDeps, 'findFencesAround' | 'isRevokedCaller' | 'isWithdrawnTool'> {
  return {
    findFencesAround: (caller) => findFencesAround(reader, caller),
    isRevokedCaller: async ({ tenant, principal, accessKey, agentKey }) => {
      const [isRevokedAgent, key, signing] = await Promise.all([
        isRevoked(reader, { tenant, kind: 'agent', principal }),
        accessKey === undefined ? null : findAccessKeyById(reader, accessKey),
        agentKey === undefined ? null : findLiveKey(reader, { tenant, kid: agentKey }),
      ]);
      const isKeyGone = accessKey !== undefined && (key === null || hasEnded(key, clock().getTime()));
      return isRevokedAgent || isKeyGone || (agentKey !== undefined && signing === null);
    },
    isWithdrawnTool: async ({ tenant, tools }) => {
      if (tools.length === 0) return false;
      const names = tools.flatMap((tool) => parseToolAddress(tool)?.serverId ?? []);
      const servers = names.flatMap((name) => [name, serverKey(tenant, name)]);
      const [blocks, revoked] = await Promise.all([
        reader.toolBlocks.findUnique({ where: { tenant_id: tenant } }),
        reader.mcpServer.count({ where: { server_id: { in: servers }, state: 'revoked' } }),
      ]);
      return revoked > 0 || (blocks !== null && holdsOneOf(toolBlocks.rowOf(asStored(blocks)), tools));
    },
  };
}
