import { putTenant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { markPlaced, type Owned } from '../store/orgs.ts';

/**
 * The only version of a placement, because a workspace stays with its organisation. The kernel accepts the placement
 * once and treats repetitions as confirmations.
 */
const onlyVersion = 1;

/**
 * Sends the organisation of a workspace to the kernel. From then on, fences on the organisation also apply to the
 * workspace. Throws GOVERNANCE_UNAVAILABLE.
 */
export async function placeWorkspace(
  { kernel, transaction, now }: Pick<Context, 'kernel' | 'transaction' | 'now'>,
  { workspaceId: tenant, orgId: org_id }: Owned,
): Promise<void> {
  const body = { version: onlyVersion, org_id };
  await answerOf('kernel', () => kernel.own({ putTenant }).putTenant({ params: { tenant }, body }));
  await transaction((tx) => markPlaced(tx, tenant, now()));
}
