import { listBoundaryCapabilities } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { capabilitiesOf } from '../../doors/status/capabilities.ts';

export const listBoundaryCapabilitiesRoute = ({ config }: Pick<Context, 'config'>) =>
  handleTenant(listBoundaryCapabilities)(() => ({
    capabilities: capabilitiesOf({
      hasModel: config.upstream.url !== null,
      hasServers: config.mcpServers.length > 0,
      hasCollector: config.collector !== null,
    }),
  }));
