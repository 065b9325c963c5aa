import type { BasicKey } from '@countersign/contracts/commercial-gateway';
import type { ApiKey } from '@countersign/contracts/gateway';

/** Returns an API key of the gateway with the member names of the basic API. */
export function keyView({ id, workspaceId, name, prefix, role, scopes, environment, ...key }: ApiKey): BasicKey {
  return {
    ...{ key_id: id, workspace_id: workspaceId, name, prefix, role, scopes, environment },
    created_by: key.createdBy,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}
