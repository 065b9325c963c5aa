import { AppError } from '@countersign/contracts';
import { getOauthProtectedResource } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { mcpServerInfo } from '../../doors/mcp/server-info.ts';

/** Tells clients of `/mcp` where to request access tokens (RFC 9728). */
export const getOauthProtectedResourceRoute = ({ config: { oauth } }: Context) =>
  handlePublic(getOauthProtectedResource)(() => {
    if (oauth === null)
      throw new AppError('NOT_FOUND', 'This server accepts no OAuth access tokens. Ask its operator to name an issuer');
    return {
      resource: oauth.resource,
      authorization_servers: [oauth.issuer],
      scopes_supported: [...oauth.scopes],
      bearer_methods_supported: ['header' as const],
      resource_name: mcpServerInfo.name,
    };
  });
