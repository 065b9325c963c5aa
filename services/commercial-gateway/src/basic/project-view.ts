import type { WorkspaceId } from '@countersign/contracts';
import { Instant } from '@countersign/contracts';
import type { Project } from '@countersign/contracts/commercial-gateway';
import type { StoredProject } from '../store/projects.ts';

/** Returns a project as the caller may see it. An API key sees only its own workspace, which is passed as `within`. */
export function projectView(
  { id, orgId, name, workspaceIds, createdBy, createdAt }: StoredProject,
  within: WorkspaceId | null,
): Project {
  return {
    ...{ project_id: id, org_id: orgId, name },
    workspace_ids: workspaceIds.filter((workspaceId) => within === null || workspaceId === within),
    created_by: createdBy,
    created_at: Instant.parse(createdAt.toISOString()),
  };
}
