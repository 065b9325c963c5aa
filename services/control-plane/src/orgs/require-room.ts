import { AppError, type WorkspaceId } from '@countersign/contracts';
import type { LimitName } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from '../store/database.ts';
import { lockLimits } from '../store/entitlements.ts';
import { findOrgOfWorkspace } from '../store/orgs.ts';

type Limited = {
  name: LimitName;
  /** The name of the objects in the message. */
  things: string;
  /** The number of these objects in the organisation. It cannot change before the end of the transaction. */
  count(orgId: OrgId): Promise<number>;
};

/**
 * Throws LIMIT_REACHED when the plan of the workspace's organisation permits no further object. Call it in the
 * transaction that creates the object. The limits are locked until the transaction ends, so two transactions cannot
 * both take the last place.
 */
export async function requireRoom(tx: Tx, workspaceId: WorkspaceId, { name, things, count }: Limited): Promise<void> {
  const org = await findOrgOfWorkspace(tx, workspaceId);
  if (org === null) return;
  const limit = (await lockLimits(tx, org.id))?.[name] ?? null;
  if (limit === null) return;
  const used = await count(org.id);
  if (used < limit) return;
  const message =
    `The organisation has ${used} ${things}, and its plan allows ${limit}. ` +
    'Choose a larger plan, or remove what is not needed';
  throw new AppError('LIMIT_REACHED', message, { details: { name, limit, used } });
}
