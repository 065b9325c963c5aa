import { AppError } from '@countersign/contracts';
import { getOauthProtectedResource } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { mcpServerInfo } from '../mcp/server-info.ts';

/** Where clients of `/mcp` get their access tokens (RFC 9728). */
export const getOauthProtectedResourceRoute = ({ config: { oauth } }: Context) =>
  handlePublic(getOauthProtectedResource)(() => {
    if (oauth === null) throw new AppError('NOT_FOUND', 'This server takes no access tokens of OAuth');
    return {
      resource: oauth.resource,
      authorization_servers: [oauth.issuer],
      scopes_supported: [...oauth.scopes],
      bearer_methods_supported: ['header' as const],
      resource_name: mcpServerInfo.name,
    };
  });
