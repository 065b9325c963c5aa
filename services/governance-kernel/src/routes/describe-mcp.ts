import { AppError } from '@countersign/contracts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from '@countersign/contracts/governance-kernel';
import { handleTenant } from '../handle.ts';
import { mcpProtocolVersions, mcpServerInfo } from '../mcp/server-info.ts';

type DescribeMcpParts = { cycle: { settings: { pages: { publicUrl: string } } } };

/** A description for people and tools. There is no event stream to open: neither protocol revision needs one here. */
export const describeMcpRoute = ({ cycle }: DescribeMcpParts) =>
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
