import { AppError } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { WorkspaceCaller } from '../guards.ts';
import type { Reader } from '../store/database.ts';
import { findOrgOfWorkspace } from '../store/orgs.ts';

/** Returns the organisation of the addressed workspace. Throws NOT_FOUND. */
export async function orgOfCaller(
  reader: Reader,
  { workspaceId }: Pick<WorkspaceCaller, 'workspaceId'>,
): Promise<OrgId> {
  const orgId = await findOrgOfWorkspace(reader, workspaceId);
  if (orgId !== null) return orgId;
  throw new AppError(
    'NOT_FOUND',
    'The workspace has no organisation. Create one with POST /api/bootstrap. It is available within seconds',
  );
}
