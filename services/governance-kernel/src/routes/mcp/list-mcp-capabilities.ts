import { parsePlainObject } from '@countersign/crypto';
import { listMcpCapabilities } from '@countersign/contracts/governance-kernel';
import { handleTenant } from '../../handle.ts';
import type { ListedTool, McpGateway } from '../../doors/mcp/gateway.ts';
import { mcpServerInfo } from '../../doors/mcp/server-info.ts';

type ListMcpCapabilitiesDeps = { mcp: Pick<McpGateway, 'listTools'> };

/** The tools that may be called now, with the pins that calls are compared with. */
export const listMcpCapabilitiesRoute = ({ mcp }: ListMcpCapabilitiesDeps) =>
  handleTenant(listMcpCapabilities)(async ({ caller }) => ({
    server_name: mcpServerInfo.name,
    version: mcpServerInfo.version,
    tools: (await mcp.listTools(caller.tenant)).map(capability),
  }));

function capability({ tool, serverId, effectLevel, definition, definitionHash }: ListedTool) {
  return {
    name: tool,
    server_id: serverId,
    description: definition.description ?? '',
    effect_level: effectLevel,
    input_schema: parsePlainObject(definition.inputSchema),
    definition_hash: definitionHash,
  };
}
