import { TenantId, type WorkspaceId } from '@countersign/contracts';

/** A workspace is one tenant of the kernel, under the same name. */
export function tenantOf(workspaceId: WorkspaceId): TenantId {
  return TenantId.parse(workspaceId);
}
