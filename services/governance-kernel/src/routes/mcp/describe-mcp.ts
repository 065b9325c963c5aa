import { AppError } from '@countersign/contracts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from '@countersign/contracts/governance-kernel';
import { handleTenant } from '../../handle.ts';
import { mcpProtocolVersions, mcpServerInfo } from '../../doors/mcp/server-info.ts';

type DescribeMcpDeps = { cycle: { settings: { pages: { publicUrl: string } } } };

/** Describes the MCP server. Requests for an event stream are refused, since neither protocol version needs one. */
export const describeMcpRoute = ({ cycle }: DescribeMcpDeps) =>
  handleTenant(describeMcp)(({ req }) => {
    if (wantsStream(req.headers.accept)) {
      throw new AppError('METHOD_NOT_ALLOWED', 'This server opens no event stream; POST JSON-RPC messages', {
        headers: { allow: 'POST' },
      });
    }
    const { publicUrl } = cycle.settings.pages;
    return {
      server_name: mcpServerInfo.name,
      version: mcpServerInfo.version,
      mcp_endpoint: absolute(callMcp.path, publicUrl),
      capabilities_url: absolute(listMcpCapabilities.path, publicUrl),
      execute_url: absolute(executeMcp.path, publicUrl),
      supported_protocol_versions: [...mcpProtocolVersions],
    };
  });

function wantsStream(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('text/event-stream') && !accept.includes('application/json');
}

function absolute(path: string, publicUrl: string): string {
  return new URL(path, publicUrl).href;
}
